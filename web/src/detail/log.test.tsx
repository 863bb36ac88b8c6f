// @vitest-environment jsdom
import { act, fireEvent, render, screen, waitFor } from "@testing-library/react";
import fc from "fast-check";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";
import { darkroom } from "../../test/darkrooms";
import { Store } from "../live/store";
import { LiveContext } from "../live/useLive";
import { LogBuffer, matching, partsOf } from "./log";
import { Pods } from "./Pods";

test("only the last lines of a log are kept, and long ones are cut", () => {
  const log = new LogBuffer(3);
  ["one\r\ntwo\n", "thr", "ee\nfour\r\n", "\n", "x".repeat(15_000), "x".repeat(5_000), "\nsev", "en"].forEach((piece) => log.add(piece));
  expect(log.read()).toEqual(["", "x".repeat(10_000), "seven"]);
});

test.each([
  ["", ["GET /a", "get /b", "error"]],
  ["GET", ["GET /a", "get /b"]],
  ["none", []],
])("lines are searched for %j", (text, want) => {
  expect(matching(["GET /a", "get /b", "error"], text)).toEqual(want);
});

/** All letters that have a different length in lower or upper case. */
const odd = Array.from({ length: 0x3000 }, (_, code) => String.fromCodePoint(code)).filter((letter) => [letter.toLowerCase(), letter.toUpperCase()].some(({ length }) => length !== letter.length));
const texts = fc.string({ unit: fc.oneof(fc.constantFrom(...odd, ...Array.from("aAiIsS\\.*[]{}()|^$+?-/")), fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 })), maxLength: 6 });

test("what is found is marked, letter by letter, and nothing else", () => {
  expect(odd).toContain("İ");
  fc.assert(
    fc.property(texts, texts, texts, (before, text, after) => {
      fc.pre(text !== "");
      const line = before + text + after;
      const parts = partsOf(line, text);
      const marked = parts.filter((_, at) => at % 2 === 1);
      expect(parts.join("")).toBe(line);
      expect(matching([line], text)).toEqual([line]);
      expect(marked.length).toBeGreaterThan(0);
      for (const mark of marked) {
        expect([mark.toLowerCase(), mark.toUpperCase()].some((same) => [text.toLowerCase(), text.toUpperCase()].includes(same)), `${mark} is marked for ${text}`).toBe(true);
      }
      // A line is found exactly if a part of it is marked.
      expect(marked.length > 0).toBe(matching([line], text).length > 0);
    }),
  );
});

const pod = { name: "cats-1", phase: "Running", ready: true, restarts: 1 };
const event = { type: "Warning", reason: "BackOff", message: "restarting a failed container", count: 2 };
let asked: string[];
const logs = () => asked.filter((path) => path.includes("/log"));
let log: ReadableStreamDefaultController<Uint8Array>;
const send = (text: string) => act(() => log.enqueue(new TextEncoder().encode(text)));
const sendLines = (...lines: string[]) => send(lines.map((line) => `${line}\n`).join(""));

beforeEach(() => {
  asked = [];
  vi.stubGlobal("fetch", (path: string, { signal }: RequestInit) => {
    asked.push(path);
    if (path.endsWith("/events")) {
      return Promise.resolve(new Response(JSON.stringify({ items: [event] })));
    }
    if (!path.includes("/log")) {
      return Promise.resolve(new Response(JSON.stringify({ items: [pod] })));
    }
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (log = controller) });
    const opened = log;
    signal?.addEventListener("abort", () => opened.error(new DOMException("over", "AbortError")));
    return Promise.resolve(new Response(body));
  });
});

async function open(store = new Store()) {
  const user = userEvent.setup();
  render(
    <LiveContext value={store}>
      <Pods darkroom={darkroom()} mayReadLogs />
    </LiveContext>,
  );
  await user.click(await screen.findByRole("button", { name: "Log and events of cats-1" }));
  return { user, box: await screen.findByRole("log", { name: "Log of cats-1" }) };
}

test("the log of a pod is followed and searched", async () => {
  const { user, box } = await open();
  expect(logs()).toEqual(["/darkrooms/photos/cats/pods/cats-1/log?container=darkroom&lines=500&follow=true&previous=false"]);
  sendLines("GET /cat.jpg", "error: no source");
  await waitFor(() => expect(box.textContent).toBe("GET /cat.jpg\nerror: no source"));
  fireEvent.change(screen.getByLabelText("Search the log"), { target: { value: "ERROR" } });
  expect(box.textContent).toBe("error: no source\n");
  expect(box.querySelector("mark")?.textContent).toBe("error");
  expect(screen.getByText("1 of 2 lines")).toBeTruthy();
  act(() => log.close());
  await user.click(await screen.findByRole("button", { name: "Follow again" }));
  await waitFor(() => expect(logs()).toHaveLength(2));
});

test("what was searched for is marked behind letters that are longer in lower case", async () => {
  const { box } = await open();
  sendLines(...odd.map((letter) => `${letter}${letter} Error ${letter}`));
  fireEvent.change(screen.getByLabelText("Search the log"), { target: { value: "eRROR" } });
  await waitFor(() => expect(box.querySelectorAll("mark")).toHaveLength(odd.length));
  expect(new Set(Array.from(box.querySelectorAll("mark"), ({ textContent }) => textContent))).toEqual(new Set(["Error"]));
});

test("a log is read again once the connection of the page is back; what was read stays", async () => {
  const store = new Store();
  store.connect("live");
  const { box } = await open(store);
  sendLines("one", "two");
  await waitFor(() => expect(box.textContent).toBe("one\ntwo"));
  act(() => store.connect("lost"));
  expect(box.textContent).toBe("one\ntwo");
  act(() => store.connect("live"));
  await waitFor(() => expect(logs()).toHaveLength(2));
  sendLines("two", "three");
  await waitFor(() => expect(box.textContent).toBe("two\nthree"));
});

test("the log before the last restart is not followed", async () => {
  const { user } = await open();
  await user.click(screen.getByLabelText("Before the last restart"));
  await waitFor(() => expect(logs().at(-1)).toBe("/darkrooms/photos/cats/pods/cats-1/log?container=darkroom&lines=500&follow=false&previous=true"));
  expect(screen.getByLabelText("Follow").hasAttribute("disabled")).toBe(true);
});

test("the log is downloaded as a file", async () => {
  const { user } = await open();
  const save = vi.fn();
  vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
    save(this.download, this.href);
  });
  vi.stubGlobal("URL", Object.assign(URL, { createObjectURL: () => "blob:x", revokeObjectURL: () => undefined }));
  await user.click(screen.getByRole("button", { name: "Download" }));
  send("line\n");
  act(() => log.close());
  await waitFor(() => expect(save).toHaveBeenCalledWith("cats-1-darkroom.log", "blob:x"));
  expect(logs().at(-1)).toContain("container=darkroom&lines=10000&follow=false");
});

test("the events of a pod are beside its log", async () => {
  const { user } = await open();
  await user.click(screen.getByRole("tab", { name: "Events" }));
  expect(await screen.findByText("restarting a failed container")).toBeTruthy();
  expect(asked).toContain("/darkrooms/photos/cats/pods/cats-1/events");
});

test("without the right to read logs, the log is disabled with the reason", async () => {
  const user = userEvent.setup();
  render(<Pods darkroom={darkroom()} mayReadLogs={false} />);
  await user.click(await screen.findByRole("button", { name: "Events of cats-1" }));
  expect(await screen.findByText("restarting a failed container", { exact: false })).toBeTruthy();
  const tab = screen.getByRole("tab", { name: "Log" });
  expect(tab.getAttribute("aria-disabled")).toBe("true");
  await user.hover(tab);
  expect(await screen.findByText("No permission to read logs: this requires the permission to get pods/log in the namespace photos")).toBeTruthy();
  await user.click(tab);
  expect(logs()).toEqual([]);
});
