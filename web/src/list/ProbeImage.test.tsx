// @vitest-environment jsdom
import { act, render, screen } from "@testing-library/react";
import { beforeEach, expect, test, vi } from "vitest";
import { darkroom } from "../../test/darkrooms";
import type { Darkroom } from "../api/types";
import { Store } from "../live/store";
import { LiveContext } from "../live/useLive";
import { ProbeImage } from "./ProbeImage";

const since = new Date(Date.now() - 300_000).toISOString();
const probed = (name: string, status = "True", lastTransitionTime = since): Darkroom =>
  darkroom({ name, probe: { path: "/cat.jpg" }, status: { ...darkroom().status, conditions: [{ type: "SourceReady", status, reason: "x", lastTransitionTime }] } });

let asked: string[];
let answers: ((status: number) => void)[];
/** Shows the row that an observer watches. */
let see: (() => void)[];

beforeEach(() => {
  [asked, answers, see] = [[], [], []];
  vi.stubGlobal("fetch", (path: string) => {
    asked.push(path);
    return new Promise<Response>((resolve) => {
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

const store = () => new Store();
const list = (darkrooms: Darkroom[], live = store()) => (
  <LiveContext value={live}>
    {darkrooms.map((one) => (
      <ProbeImage key={one.name} darkroom={one} />
    ))}
  </LiveContext>
);
const settle = (work: () => void) =>
  act(async () => {
    work();
    await new Promise((resolve) => setTimeout(resolve));
  });

test("images are requested once their row is seen, one at a time, and kept", async () => {
  const live = store();
  const { unmount } = render(list([probed("cats"), probed("dogs")], live));
  expect(asked).toEqual([]);
  await settle(() => see.forEach((one) => one()));
  expect(asked).toEqual(["/darkrooms/photos/cats/image?path=%2Fcat.jpg&w=64"]);
  await settle(() => answers[0]?.(200));
  expect(screen.getAllByRole("img", { name: "/cat.jpg" })).toHaveLength(1);
  expect(screen.getByRole("img", { name: "/cat.jpg" }).title).toMatch(/^Served at .* in \d+ ms$/);
  await settle(() => answers[1]?.(200));
  expect(screen.getAllByRole("img", { name: "/cat.jpg" })).toHaveLength(2);
  unmount();

  see = [];
  const again = render(list([probed("cats")], live));
  await settle(() => see.forEach((one) => one()));
  expect(screen.getByRole("img", { name: "/cat.jpg" })).toBeTruthy();
  expect(asked).toHaveLength(2);
  // The result of the probe changed in between.
  again.rerender(list([probed("cats", "True", new Date().toISOString())], live));
  await settle(() => undefined);
  expect(asked).toHaveLength(3);
});

test("without the right to fetch images, one request shows it for the whole namespace", async () => {
  render(list([probed("cats"), probed("dogs")]));
  await settle(() => see.forEach((one) => one()));
  await settle(() => answers[0]?.(403));
  expect(asked).toHaveLength(1);
  expect(screen.getAllByTitle("Image served")).toHaveLength(2);
});

test("an image that is not served says so, without a request if the probe found it", async () => {
  render(list([probed("cats", "False"), darkroom({ name: "none" }), probed("dogs")]));
  expect(screen.getByTitle("Image not served")).toBeTruthy();
  await settle(() => see.forEach((one) => one()));
  await settle(() => answers[0]?.(502));
  expect(screen.getByTitle("none")).toBeTruthy();
  expect(asked).toHaveLength(1);
});
