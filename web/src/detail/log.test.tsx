// @vitest-environment jsdom
import { act, fireEvent, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";
import { darkroom } from "../../test/darkrooms";
import { LogBuffer, matching } from "./log";
import { Pods } from "./Pods";

test("a log arrives in pieces, and only its last lines are kept", () => {
  const log = new LogBuffer(3);
  log.feed("one\r\ntw");
  expect(log.read()).toEqual(["one"]);
  log.feed("o\nthree\nfour\nfi");
  expect(log.read()).toEqual(["two", "three", "four"]);
  log.end();
  log.end();
  expect(log.read()).toEqual(["three", "four", "fi"]);
});

test("lines without an end do not fill the memory", () => {
  const log = new LogBuffer(3);
  for (let i = 0; i < 10; i++) {
    log.feed("x".repeat(9_000));
  }
  log.end();
  expect(log.read()).toEqual(["x".repeat(10_000)]);
});

test.each([
  ["", ["GET /a", "get /b", "error"]],
  ["GET", ["GET /a", "get /b"]],
  ["none", []],
])("lines are searched for %j", (text, want) => {
  expect(matching(["GET /a", "get /b", "error"], text)).toEqual(want);
});

const pod = { name: "cats-1", phase: "Running", ready: true, restarts: 1 };
const event = { type: "Warning", reason: "BackOff", message: "restarting a failed container", count: 2 };
let asked: string[];
let log: ReadableStreamDefaultController<Uint8Array>;
const send = (text: string) => act(() => log.enqueue(new TextEncoder().encode(text)));

beforeEach(() => {
  asked = [];
  vi.stubGlobal("fetch", (path: string) => {
    asked.push(path);
    if (path.endsWith("/events")) {
      return Promise.resolve(new Response(JSON.stringify({ items: [event] })));
    }
    return Promise.resolve(path.includes("/log") ? new Response(new ReadableStream<Uint8Array>({ start: (controller) => void (log = controller) })) : new Response(JSON.stringify({ items: [pod] })));
  });
});

async function open() {
  const user = userEvent.setup();
  render(<Pods darkroom={darkroom()} mayReadLogs />);
  await user.click(await screen.findByRole("button", { name: "Log and events of cats-1" }));
  return { user, box: await screen.findByRole("log", { name: "Log of cats-1" }) };
}

test("the log of a pod is followed and searched", async () => {
  const { user, box } = await open();
  expect(asked.filter((path) => path.includes("/log"))).toEqual(["/darkrooms/photos/cats/pods/cats-1/log?container=darkroom&lines=500&follow=true&previous=false"]);
  send("GET /cat.jpg\nerror: no source\n");
  await waitFor(() => expect(box.textContent).toBe("GET /cat.jpg\nerror: no source"));
  fireEvent.change(screen.getByLabelText("Search the log"), { target: { value: "ERROR" } });
  expect(box.textContent).toBe("error: no source\n");
  expect(box.querySelector("mark")?.textContent).toBe("error");
  expect(screen.getByText("1 of 2 lines")).toBeTruthy();
  act(() => log.close());
  await user.click(await screen.findByRole("button", { name: "Follow again" }));
  expect(asked.filter((path) => path.includes("/log"))).toHaveLength(2);
});

test("the log before the last restart is not followed", async () => {
  const { user } = await open();
  await user.click(screen.getByLabelText("Before the last restart"));
  expect(asked.filter((path) => path.includes("/log")).at(-1)).toBe("/darkrooms/photos/cats/pods/cats-1/log?container=darkroom&lines=500&follow=false&previous=true");
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
  expect(asked.at(-1)).toContain("container=darkroom&lines=10000&follow=false");
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
  expect(asked.filter((path) => path.includes("/log"))).toEqual([]);
});
