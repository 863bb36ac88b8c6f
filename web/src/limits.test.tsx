// @vitest-environment jsdom
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { act, render, screen } from "@testing-library/react";
import { beforeEach, expect, test, vi } from "vitest";
import { darkroom } from "../test/darkrooms";
import { App } from "./App";
import { navigate } from "./router";
// The views that App loads when they are opened, because fake time does not advance while a module is loaded.
import "./detail/DetailView";

/** The first number that a pattern finds in a file of the server. */
function setting(file: string, pattern: RegExp): number {
  const found = pattern.exec(readFileSync(join(import.meta.dirname, "../../internal", file), "utf8"))?.[1];
  expect(found, `${file} has ${String(pattern)}`).toBeDefined();
  return Number(found);
}

/** The limits of the server for each caller. */
const perSecond = setting("cmd/apiserver.go", /"requests-per-second", (\d+)/);
const burst = setting("cmd/apiserver.go", /"burst", (\d+)/);
const patience = setting("apiserver/limit/callers.go", /RateTimeout = (\d+) \* time\.Second/) * 1_000;

const names = Array.from({ length: 100 }, (_, i) => `cats-${String(i).padStart(3, "0")}`);
const conditions = [{ type: "SourceReady", status: "True", reason: "Served", message: "served", lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1 }];
const all = names.map((name) => darkroom({ name, probe: { path: "/cat.jpg" }, gate: {}, status: { ...darkroom().status, conditions } } as Parameters<typeof darkroom>[0]));

/** The time that a response takes, in milliseconds; React renders between two responses. */
const latency = 20;

/** The requested paths, and those that the server had to reject. */
let asked: string[];
let refused: string[];

const events = () =>
  new ReadableStream({
    start: (out) => {
      const lines: [string, unknown][] = [["reset", {}], ...all.map((one): [string, unknown] => ["added", one]), ["synced", { items: all.length, all: true }]];
      out.enqueue(new TextEncoder().encode(lines.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join("")));
    },
  });

function answer(path: string): Response {
  const json = (body: unknown) => new Response(JSON.stringify(body));
  switch (path.replace(/\?.*/, "").replace(/^\/darkrooms\/[^/]+\/[^/]+/, "")) {
    case "/session":
      return json({ username: "alice", groups: [], auth: "token" });
    case "/settings":
      return json({ cluster: "", baseDomain: "example.com", darkroomVersion: "v1", namespaces: [], version: "v1" });
    case "/access/namespaces":
      return json({ create: ["photos"], update: ["photos"] });
    case "/access":
      return json({ create: true, update: true, delete: true, image: true, log: true, createSecret: true });
    case "/image":
      return new Response("image", { headers: { "Content-Type": "image/jpeg" } });
    case "/figures":
      return json({ at: new Date().toISOString(), pods: 1, gates: [] });
    case "":
      return json(all[0]);
    default:
      return json({ items: [] });
  }
}

beforeEach(() => {
  asked = [];
  refused = [];
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"] });
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }));
  // Everything is in view.
  vi.stubGlobal("IntersectionObserver", class {
    constructor(private readonly seen: (entries: { isIntersecting: boolean }[]) => void) {}
    observe = () => void setTimeout(() => this.seen([{ isIntersecting: true }]));
    disconnect = () => undefined;
  });
  Object.assign(URL, { createObjectURL: () => "blob:image", revokeObjectURL: () => undefined });
  // Like limit.Rates, a request waits for its turn, but not longer than rateTimeout.
  const bucket = { tokens: burst, at: Date.now() };
  vi.stubGlobal("fetch", (path: string) => {
    if (path.startsWith("/events/stream")) {
      return Promise.resolve(new Response(events()));
    }
    asked.push(path);
    bucket.tokens = Math.min(burst, bucket.tokens + ((Date.now() - bucket.at) * perSecond) / 1_000);
    bucket.at = Date.now();
    const wait = Math.max(0, ((1 - bucket.tokens) * 1_000) / perSecond);
    if (wait > patience) {
      refused.push(path);
      return Promise.resolve(new Response(JSON.stringify({ title: "Too Many Requests", status: 429, detail: "wait" }), { status: 429 }));
    }
    bucket.tokens -= 1;
    return new Promise((resolve) => setTimeout(() => resolve(answer(path)), latency + wait));
  });
  return () => void vi.useRealTimers();
});

/** Requests that are sent in one minute. */
async function minute(): Promise<number> {
  const before = asked.length;
  for (let passed = 0; passed < 60_000; passed += latency) {
    await act(async () => {
      await vi.advanceTimersByTimeAsync(latency);
      await new Promise((resolve) => setImmediate(resolve));
    });
  }
  return asked.length - before;
}

test("an open list and an open detail of one user stay within the limits of the server", async () => {
  history.replaceState(null, "", "/?per=100");
  render(<App />);
  const opening = await minute();
  expect(screen.getByRole("link", { name: names[0] ?? "" })).toBeTruthy();
  expect(asked.filter((path) => path.includes("/image"))).toHaveLength(names.length);
  const list = await minute();
  act(() => navigate(`/ui/photos/${names[0] ?? ""}`));
  const detail = await minute();
  expect(screen.getByRole("heading", { name: names[0] ?? "" })).toBeTruthy();
  console.info(`requests in one minute: list ${opening}, then ${list}; detail ${detail}; allowed ${60 * perSecond}`);
  expect(refused).toEqual([]);
  // Two tabs, and a script as busy as both.
  expect(2 * (list + detail)).toBeLessThan(60 * perSecond);
});
