// @vitest-environment jsdom
import { act, render, screen, waitFor } from "@testing-library/react";
import { beforeEach, expect, test, vi } from "vitest";
import { darkroom } from "../../test/darkrooms";
import { reads } from "../api/reads";
import type { Condition, Darkroom } from "../api/types";
import { ProbeImage } from "./ProbeImage";

const since = new Date(Date.now() - 300_000).toISOString();
const probed = (name: string, status: Condition["status"] = "True", lastTransitionTime = since): Darkroom =>
  darkroom({ name, probe: { path: "/cat.jpg" }, status: { ...darkroom().status, conditions: [{ type: "SourceReady", status, reason: "x", lastTransitionTime }] } });

/** Whether the user may fetch images. */
let may: boolean;
let asked: string[];
/** The number of requests for permissions. */
let questions: number;
let answers: ((status: number) => void)[];
/** Shows the row that an observer watches. */
let see: (() => void)[];

beforeEach(() => {
  [may, asked, questions, answers, see] = [true, [], 0, [], []];
  vi.stubGlobal("fetch", (path: string, { signal }: RequestInit) => {
    if (path.startsWith("/access")) {
      questions++;
      return Promise.resolve(new Response(JSON.stringify({ image: may })));
    }
    asked.push(path);
    return new Promise<Response>((resolve, reject) => {
      signal?.addEventListener("abort", () => reject(new DOMException("over", "AbortError")));
      answers.push((status) => resolve(new Response(status === 200 ? "image" : JSON.stringify({ status, title: "No", detail: "none" }), { status, headers: { "Content-Type": "image/png" } })));
    });
  });
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      constructor(callback: (entries: { isIntersecting: boolean }[]) => void) {
        see.push(() => callback([{ isIntersecting: true }]));
      }
      observe = () => undefined;
      disconnect = () => undefined;
    },
  );
  Object.assign(URL, { createObjectURL: () => "blob:image", revokeObjectURL: () => undefined });
});

const list = (darkrooms: Darkroom[]) => darkrooms.map((one) => <ProbeImage key={one.name} darkroom={one} />);
/** Shows all rows. */
const scroll = () => act(() => see.forEach((one) => one()));
/** Waits until the given number of images were requested, and responds to the last request. */
const answer = async (requests: number, status: number) => {
  await waitFor(() => expect(asked).toHaveLength(requests));
  answers[requests - 1]?.(status);
};

test("images are requested once their row is seen, one at a time, and kept", async () => {
  const { unmount } = render(list([probed("cats"), probed("dogs")]));
  expect(asked).toEqual([]);
  scroll();
  await answer(1, 200);
  expect(asked).toEqual(["/darkrooms/photos/cats/image?path=%2Fcat.jpg&w=128"]);
  expect((await screen.findByRole("img", { name: "/cat.jpg" })).title).toMatch(/^Served at .* in \d+ ms$/);
  await answer(2, 200);
  await waitFor(() => expect(screen.getAllByRole("img", { name: "/cat.jpg" })).toHaveLength(2));
  unmount();

  see = [];
  const again = render(list([probed("cats")]));
  scroll();
  expect(await screen.findByRole("img", { name: "/cat.jpg" })).toBeTruthy();
  expect(asked).toHaveLength(2);
  // The result of the probe changed in between.
  again.rerender(list([probed("cats", "True", new Date().toISOString())]));
  await answer(3, 200);
});

test("a list of many namespaces requests only the permissions of namespaces whose rows are seen, which the server's rate limit permits", async () => {
  render(list(Array.from({ length: 500 }, (_, i) => ({ ...probed(`cats-${i}`), namespace: `photos-${i}` }))));
  act(() => see.slice(0, 12).forEach((one) => one()));
  await waitFor(() => expect(asked).toHaveLength(1));
  expect(questions).toBe(12);
});

test("a row that was not seen requests no image, although the rights in its namespace are known", async () => {
  render(list([probed("cats"), probed("dogs")]));
  act(() => see[0]?.());
  await answer(1, 200);
  await screen.findByRole("img", { name: "/cat.jpg" });
  expect(asked).toHaveLength(1);
});

test("without the right to fetch images none is requested", async () => {
  may = false;
  render(list([probed("cats"), probed("dogs")]));
  scroll();
  await waitFor(() => expect(reads.isFetching()).toBe(0));
  expect(asked).toEqual([]);
  expect(screen.getAllByTitle("Image served")).toHaveLength(2);
});

test("while only new pods do not serve, the image of the old ones is shown", async () => {
  const one = probed("cats", "False");
  one.status.conditions?.forEach((condition) => (condition.reason = "NewPodsNotServing"));
  render(list([one]));
  scroll();
  await answer(1, 200);
  expect(await screen.findByRole("img", { name: "/cat.jpg" })).toBeTruthy();
});

test("an image that is not served is reported, without a request if the probe found it", async () => {
  render(list([probed("cats", "False"), darkroom({ name: "none" }), probed("dogs")]));
  expect(screen.getByTitle("Image not served")).toBeTruthy();
  scroll();
  await answer(1, 502);
  expect(await screen.findByTitle("None")).toBeTruthy();
  expect(asked).toHaveLength(1);
});
