// @vitest-environment jsdom
import { act, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";
import { darkroom } from "../test/darkrooms";
import { hasFocus } from "../test/focus";
import type { Darkroom, DarkroomInput } from "./api/types";
import { App } from "./App";
import { navigate } from "./router";
// Views that App loads when they are opened: loaded here, so that no test waits for them.
import "./detail/DetailView";
import "./detail/RollBack";
import "./form/FormView";
import "./layout/SignIn";
import "./layout/SignInDialog";

/** Whether the server accepts the session. */
let good: boolean;
/** The signed-in user, and the only namespace in which Darkrooms can be created; none means all. */
let username: string;
let mayCreateIn: string | undefined;
/** The open event streams of this test; cut ends them, and makes the server unreachable. */
let streams: Set<RequestInit>;
let cut: () => void;
let isAway: boolean;
/** The Darkroom on the server; a write needs its version. */
let stored: Darkroom;
const nextVersion = () => ({ resourceVersion: String(Number(stored.resourceVersion) + 1), etag: `"${Number(stored.resourceVersion) + 1}"` });
let mayUpdate: boolean;
let rolledBackTo: number[];
/** Reads to which the server responds with this status, by the end of their path. */
let broken: Record<string, number>;
/** The paths that were read. */
let read: string[];

const reply = (status: number, body: unknown) => Promise.resolve(new Response(typeof body === "string" ? body : JSON.stringify(body), { status }));

/** Live events with one Darkroom, until the page closes the stream. */
const stream = (signal: AbortSignal | null | undefined) =>
  new ReadableStream({
    start: (out) => {
      const events = [["reset", {}], ["added", stored], ["synced", { items: 1, all: true }]] as const;
      out.enqueue(new TextEncoder().encode(events.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join("")));
      let isOpen = true;
      signal?.addEventListener("abort", () => isOpen && out.close());
      cut = () => {
        isOpen = false;
        isAway = true;
        out.error(new Error("the connection was lost"));
      };
    },
  });

beforeEach(() => {
  good = true;
  streams = new Set();
  isAway = false;
  username = "alice";
  mayCreateIn = undefined;
  stored = darkroom();
  mayUpdate = true;
  rolledBackTo = [];
  broken = {};
  read = [];
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }));
  vi.stubGlobal("fetch", (path: string, init: RequestInit = {}) => {
    const { method = "GET" } = init;
    if (path === "/session" && method === "POST") {
      good = typeof init.body === "string" && init.body.includes("good");
      return reply(good ? 200 : 401, good ? {} : { title: "Unauthorized", status: 401, detail: "the token is invalid or has expired" });
    }
    if (!good) {
      return reply(401, { title: "Unauthorized", status: 401, detail: "the token is invalid or has expired" });
    }
    read.push(path);
    const [fault] = Object.entries(broken).filter(([end]) => path.endsWith(end));
    if (fault) {
      return fault[1] === 0 ? Promise.reject(new TypeError("Failed to fetch")) : reply(fault[1], { title: "Broken", status: fault[1], detail: "the server is broken" });
    }
    switch (path.replace(/\?.*/, "")) {
      case "/session":
        return reply(200, { username, groups: [], auth: "token" });
      case "/settings":
        return reply(200, { cluster: "production", baseDomain: "example.com", darkroomVersion: "v1", namespaces: [], version: "v1" });
      case "/access/namespaces":
        return reply(200, { create: mayCreateIn ? [mayCreateIn] : ["photos"], update: mayUpdate ? ["photos"] : [] });
      case "/access":
        return reply(200, { create: !mayCreateIn || path.includes(`namespace=${mayCreateIn}`), update: mayUpdate, delete: true, image: true, log: true, createSecret: true });
      case "/events/stream":
        if (isAway) {
          return Promise.reject(new Error("no connection"));
        }
        init.signal?.addEventListener("abort", ((open) => () => open.delete(init))(streams.add(init)));
        return Promise.resolve(new Response(stream(init.signal)));
      default:
        if (path.endsWith("/manifest")) {
          return reply(200, `replicas: ${method}\n`);
        }
        if (path.endsWith("/review")) {
          const { gate } = JSON.parse(init.body as string) as DarkroomInput;
          return reply(200, { manifest: `replicas: POST\n${gate ? "image: the-gate\n" : ""}`, outcome: { hosts: [], secrets: [], pods: "keep" } });
        }
        if (path.endsWith("/figures")) {
          return reply(200, { at: new Date().toISOString(), pods: 0, gates: [] });
        }
        if (path.endsWith("/pods")) {
          return reply(403, { title: "Forbidden", status: 403, detail: "pods is forbidden" });
        }
        if (path.endsWith("/events")) {
          return reply(200, { items: [] });
        }
        if (path.endsWith("/revisions")) {
          return reply(200, { items: revisions });
        }
        if (path.endsWith("/rollback")) {
          rolledBackTo.push((JSON.parse(init.body as string) as { revision: number }).revision);
          return reply(200, stored);
        }
        if (method === "POST" && !path.includes("dryRun")) {
          stored = darkroom(JSON.parse(init.body as string) as Partial<Darkroom>);
        }
        if (method === "PUT") {
          if (new Headers(init.headers).get("If-Match") !== stored.etag) {
            return reply(412, { title: "Precondition Failed", status: 412, detail: "the version is stale" });
          }
          if (!path.includes("dryRun")) {
            change({ gate: undefined, ...(JSON.parse(init.body as string) as DarkroomInput) });
          }
        }
        return reply(200, stored);
    }
  });
});

/** A change by a user of the page, after an installation by kubectl. */
const revisions = [
  { revision: 2, status: "deployed", createdAt: "2026-01-02T00:00:00Z", changedBy: "darkroom-page:system:serviceaccount:photos:alice", settings: { source: { type: "WebFolder", baseUrl: "https://example.com/images" }, subDomains: ["cats"], replicas: 3 } },
  { revision: 1, status: "superseded", createdAt: "2026-01-01T00:00:00Z", changedBy: "kubectl-create", settings: { source: { type: "WebFolder", baseUrl: "https://example.com/images" }, subDomains: ["cats"], replicas: 1 } },
];

/** Changes the Darkroom on the server. */
const change = (part: { [field in keyof DarkroomInput]?: DarkroomInput[field] | undefined }) => {
  stored = { ...stored, ...(part as Partial<Darkroom>), ...nextVersion() };
};

test("a session that expires while editing is renewed above the form, which then continues", async () => {
  history.replaceState(null, "", "/ui/photos/cats/edit");
  render(<App />);
  const user = userEvent.setup();
  await user.click(await screen.findByRole("button", { name: "Number of pods: increase" }));
  good = false;
  await user.click(screen.getByRole("button", { name: /^Review/ }));
  const token = await screen.findByLabelText(/^Token/);
  expect(screen.getByText("Your session has expired")).toBeTruthy();
  await user.type(token, "bad");
  await user.click(screen.getByRole("button", { name: "Sign in" }));
  await screen.findByText("Sign-in failed", { exact: false });
  await user.clear(token);
  await user.type(token, "good");
  await user.click(screen.getByRole("button", { name: "Sign in" }));
  // The check that was rejected continues without another click.
  await screen.findByRole("heading", { name: "Review changes" });
  expect(screen.getByText("production")).toBeTruthy();
  expect(screen.queryByLabelText(/^Token/)).toBeNull();
});

test("after a conflict was settled and saved, the next edit begins with what was saved", async () => {
  history.replaceState(null, "", "/ui/photos/cats/edit");
  render(<App />);
  const user = userEvent.setup();
  const click = async (name: string | RegExp) => user.click(await screen.findByRole("button", { name }));
  await click("Number of pods: increase");
  change({ replicas: 5 });
  await click(/^Review/);
  await screen.findByRole("radio", { name: /^replicas: theirs/ });
  await click(/^Review/);
  await click("Save");
  await screen.findByRole("heading", { name: "cats" });
  expect(stored.replicas).toBe(2);
  expect(sessionStorage.length).toBe(0);

  await user.click(screen.getByRole("link", { name: "Edit" }));
  await click("Number of pods: increase");
  good = false;
  await click(/^Review/);
  fireEvent.change(await screen.findByLabelText(/^Token/), { target: { value: "good" } });
  await click("Sign in");
  await click("Save");
  await screen.findByRole("heading", { name: "cats" });
  expect(stored.replicas).toBe(3);
  expect(sessionStorage.length).toBe(0);
});

test("elsewhere it leads to the sign-in view, and back to where the user was", async () => {
  history.replaceState(null, "", "/ui/photos/cats");
  render(<App />);
  const user = userEvent.setup();
  await screen.findByRole("heading", { name: "cats" });
  good = false;
  await user.click(screen.getByRole("tab", { name: "History" }));
  await screen.findByText("Your session has expired. Sign in again.", { exact: false });
  expect(screen.getByLabelText(/^Token/).getAttribute("autocomplete")).toBe("off");
  fireEvent.change(screen.getByLabelText(/^Token/), { target: { value: "good" } });
  await user.click(screen.getByRole("button", { name: "Sign in" }));
  await screen.findByRole("heading", { name: "cats" });
});

test("signing out removes drafts, and the path that was last shown", async () => {
  history.replaceState(null, "", "/ui/photos/cats?tab=playground");
  render(<App />);
  const user = userEvent.setup();
  await user.type(await screen.findByLabelText(/^Path/), "/private.jpg");
  await waitFor(() => expect(JSON.stringify(sessionStorage)).toContain("/private.jpg"));
  sessionStorage.setItem("darkroom-draft alice photos/cats", "{}");
  await user.click(await screen.findByRole("button", { name: "Signed in as alice" }));
  await user.click(await screen.findByRole("menuitem", { name: "Sign out" }));
  await screen.findByRole("heading", { name: "Sign in to Darkrooms" });
  expect(sessionStorage.length).toBe(0);
});

test("a failed sign-out is reported: the browser still has the session", async () => {
  sessionStorage.setItem("darkroom-draft alice photos/cats", "{}");
  history.replaceState(null, "", "/ui/photos/cats");
  render(<App />);
  const user = userEvent.setup();
  await user.click(await screen.findByRole("button", { name: "Signed in as alice" }));
  broken = { "/session": 0 };
  await user.click(await screen.findByRole("menuitem", { name: "Sign out" }));
  await screen.findByText("You are still signed in", { exact: false });
  expect(screen.getByRole("heading", { name: "cats" })).toBeTruthy();
  expect(sessionStorage.length).toBe(1);
});

test("what a user has begun is neither shown to the next user in this tab nor done as that user", async () => {
  history.replaceState(null, "", "/ui/photos/cats/edit");
  render(<App />);
  const user = userEvent.setup();
  const pods = () => screen.findByRole<HTMLInputElement>("spinbutton", { name: "Number of pods" });
  await user.click(await screen.findByRole("button", { name: "Number of pods: increase" }));
  expect((await pods()).value).toBe("2");
  good = false;
  await user.click(screen.getByRole("button", { name: /^Review/ }));
  username = "bob";
  fireEvent.change(await screen.findByLabelText(/^Token/), { target: { value: "good" } });
  await user.click(screen.getByRole("button", { name: "Sign in" }));
  await screen.findByRole("button", { name: "Signed in as bob" });
  expect((await pods()).value).toBe("1");
  expect(read.filter((path) => path.endsWith("/review"))).toEqual([]);
});

test("after a sign-in in another tab, this tab shows the same user", async () => {
  history.replaceState(null, "", "/ui/photos/cats");
  render(<App />);
  await screen.findByRole("button", { name: "Signed in as alice" });
  username = "bob";
  const tab = new BroadcastChannel("darkroom-user");
  tab.postMessage("bob");
  await screen.findByRole("button", { name: "Signed in as bob" });
  tab.close();
});

/** Goes back, as by the button of the browser. */
const back = () =>
  act(async () => {
    const gone = new Promise((resolve) => window.addEventListener("popstate", resolve, { once: true }));
    history.back();
    await gone;
  });

test("a new view has the focus on its heading; Back restores where the list was scrolled to", async () => {
  navigate("/");
  render(<App />);
  const user = userEvent.setup();
  const link = await screen.findByRole("link", { name: "cats" });
  const main = screen.getByRole("main");
  main.scrollTop = 700;
  act(() => navigate("/?sort=age", { replace: true }));
  await hasFocus(() => document.body);
  expect(main.scrollTop).toBe(700);
  await user.click(link);
  await hasFocus(() => screen.queryByRole("heading", { name: "cats", level: 1 }));
  expect(main.scrollTop).toBe(0);
  await back();
  await hasFocus(() => screen.queryByRole("heading", { name: "Darkrooms", level: 1 }));
  expect(main.scrollTop).toBe(700);
});

test("Back goes through the tabs before it leaves the Darkroom", async () => {
  navigate("/");
  navigate("/ui/photos/cats");
  render(<App />);
  const user = userEvent.setup();
  const selected = () => screen.getByRole("tab", { selected: true }).textContent;
  for (const name of ["Playground", "History"]) {
    await user.click(await screen.findByRole("tab", { name }));
  }
  expect(selected()).toBe("History");
  await back();
  expect(selected()).toBe("Playground");
  await back();
  expect(selected()).toBe("Overview");
  await back();
  expect(await screen.findByRole("heading", { name: "Darkrooms", level: 1 })).toBeTruthy();
});

test("a dialog focuses its first field, and restores the focus when it closes", async () => {
  history.replaceState(null, "", "/ui/photos/cats");
  render(<App />);
  const user = userEvent.setup();
  const button = await screen.findByRole("button", { name: "Delete" });
  await user.click(button);
  await hasFocus(() => screen.getByLabelText("Type cats to confirm"));
  await user.keyboard("{Escape}");
  await hasFocus(() => button);
});

test("only visible tabs have a stream of events", async () => {
  const visibility = vi.spyOn(document, "visibilityState", "get").mockReturnValue("hidden");
  const turn = (state: DocumentVisibilityState) =>
    act(() => {
      visibility.mockReturnValue(state);
      document.dispatchEvent(new Event("visibilitychange"));
    });
  history.replaceState(null, "", "/");
  render(<App />);
  await screen.findByRole("heading", { name: "Darkrooms" });
  expect(streams.size).toBe(0);
  turn("visible");
  await screen.findByRole("link", { name: "cats" });
  expect(streams.size).toBe(1);
  turn("hidden");
  expect(streams.size).toBe(0);
  expect(screen.getByRole("link", { name: "cats" })).toBeTruthy();
});

test("a change that the operator has not handled is shown as waiting, with a hint where to look", async () => {
  const now = Date.now();
  const clock = vi.spyOn(Date, "now").mockReturnValue(now);
  // The clock of this browser is an hour behind.
  stored = darkroom({ generation: 1, createdAt: new Date(now + 3_600_000).toISOString(), status: { domains: [], replicas: 0, readyReplicas: 0 } });
  history.replaceState(null, "", "/ui/photos/cats");
  render(<App />);
  await screen.findByRole("heading", { name: "cats" });
  clock.mockReturnValue(now + 90_000);
  await screen.findByText(/^Waiting for the operator for 9\d s/);
  expect(screen.getByText(/Check that the operator is running/)).toBeTruthy();
  expect(screen.getByText(/^Status from before the last change/)).toBeTruthy();
  expect(await screen.findByText("Operator behind for 90 s")).toBeTruthy();
  act(() => navigate("/"));
  await screen.findAllByRole("link", { name: "cats" });
  expect(screen.getByText(/^Waiting for the operator for 9\d s/).getAttribute("title")).toMatch(/Check that the operator is running/);
});

test("the form suggests a namespace in which the user may create", async () => {
  username = "system:serviceaccount:team-a:alice";
  mayCreateIn = "team-a";
  history.replaceState(null, "", "/ui/create");
  render(<App />);
  const field = await screen.findByLabelText<HTMLInputElement>(/^Namespace/);
  expect(field.value).toBe("team-a");
});

test("the header shows that the page is live, and for how long it has had no connection", async () => {
  history.replaceState(null, "", "/");
  render(<App />);
  await screen.findByText("Live");
  cut();
  await screen.findByText("No connection for a few seconds");
  expect(screen.getByRole("link", { name: "cats" })).toBeTruthy();
});

test("a new Darkroom has a gate, which is reviewed, changed and turned off in the form", async () => {
  history.replaceState(null, "", "/ui/create");
  render(<App />);
  const user = userEvent.setup();
  const gate = () => screen.findByRole<HTMLInputElement>("switch", { name: "Limit and cache requests with a gate" });
  const save = async (button: string, name = stored.name) => {
    await user.click(screen.getByRole("button", { name: /^Review/ }));
    await screen.findByRole("heading", { name: /^Review/ });
    await user.click(screen.getByRole("button", { name: /^1 object will be/ }));
    await user.click(screen.getByRole("button", { name: /^Object will be/ }));
    const shown = document.body.textContent.includes("the-gate");
    await user.click(screen.getByRole("button", { name: button }));
    await screen.findByRole("heading", { name, level: 1 });
    return shown;
  };
  await user.type(await screen.findByLabelText(/^Base URL/), "https://example.com/images");
  await user.type(screen.getByLabelText(/^Name\b(?!space)/), "dogs");
  await user.click(screen.getByRole("button", { name: "More settings" }));
  expect((await gate()).checked).toBe(true);
  await user.type(screen.getByLabelText("Maximum width (pixels)"), "1200");
  await user.type(screen.getByLabelText("Cache on disk"), "1Gi");
  expect(await save("Create", "dogs")).toBe(true);
  expect(stored.gate).toEqual({ limits: { maxWidth: 1200 }, cache: { disk: "1Gi" } });

  await user.click(screen.getByRole("link", { name: "Edit" }));
  expect((await gate()).checked).toBe(true);
  await user.clear(screen.getByLabelText("Maximum width (pixels)"));
  await user.clear(screen.getByLabelText("Cache on disk"));
  expect((await gate()).checked).toBe(true);
  await save("Save");
  expect(stored.gate).toEqual({});

  await user.click(screen.getByRole("link", { name: "Edit" }));
  await user.click(await gate());
  expect(screen.queryByLabelText("Cache on disk")).toBeNull();
  expect(await save("Save")).toBe(false);
  expect(stored.gate).toBeUndefined();
});

test("without permission to list pods, the number of ready pods comes from the status", async () => {
  stored = darkroom({ status: { ...darkroom().status, pods: "1/2" } });
  history.replaceState(null, "", "/ui/photos/cats");
  render(<App />);
  await userEvent.setup().click(await screen.findByRole("button", { name: "Pods: 1 of 2 ready" }));
  expect(await screen.findByText("No permission to list pods")).toBeTruthy();
});

test("the remedy for a problem is the last revision with other settings, after a comparison", async () => {
  const conditions = [{ type: "Ready", status: "False" as const, reason: "SourceTimeout" }];
  stored = darkroom({ replicas: 3, status: { ...darkroom().status, phase: "Degraded", conditions } });
  history.replaceState(null, "", "/ui/photos/cats");
  render(<App />);
  const user = userEvent.setup();
  await user.click(await screen.findByRole("button", { name: "Roll back to revision 1" }));
  const dialog = within(await screen.findByRole("dialog"));
  expect(dialog.getByText("replicas: 3")).toBeTruthy();
  await user.click(dialog.getByRole("button", { name: "Roll back" }));
  await screen.findByText("Rolled back to the settings of revision 1");
  expect(rolledBackTo).toEqual([1]);
});

test("tabs share what they have read, and show it before it is read again", async () => {
  const conditions = [{ type: "Ready", status: "False" as const, reason: "SourceTimeout" }];
  stored = darkroom({ replicas: 3, status: { ...darkroom().status, phase: "Degraded", conditions } });
  history.replaceState(null, "", "/ui/photos/cats");
  render(<App />);
  const user = userEvent.setup();
  await screen.findByRole("button", { name: "Roll back to revision 1" });
  const revisionsRead = () => read.filter((path) => path.endsWith("/revisions")).length;
  expect(revisionsRead()).toBe(1);
  broken = { "/revisions": 500 };
  await user.click(screen.getByRole("tab", { name: "History" }));
  expect(await screen.findByRole("grid", { name: "Revisions" })).toBeTruthy();
  await waitFor(() => expect(revisionsRead()).toBe(2));
  expect(screen.getByRole("grid", { name: "Revisions" })).toBeTruthy();
  // The user's permission to create and update is requested once for all that depends on it.
  expect(read.filter((path) => path === "/access?namespace=default").length).toBeLessThanOrEqual(1);
});

test("a read without a response is repeated, but a refusal is shown at once", async () => {
  broken = { "/revisions": 0, "/events": 403 };
  history.replaceState(null, "", "/ui/photos/cats?tab=history");
  render(<App />);
  await screen.findByText("The server cannot be reached", { exact: false });
  expect(read.filter((path) => path.endsWith("/revisions"))).toHaveLength(3);
  expect(screen.getByText("No permission to list events")).toBeTruthy();
});

test("the history names who changed what, and shows what differs from now", async () => {
  mayUpdate = false;
  history.replaceState(null, "", "/ui/photos/cats?tab=history");
  render(<App />);
  const [, second, first] = await screen.findAllByRole("row");
  expect(second?.textContent).toMatch(/replicas 1 → 3.*alice · page/);
  expect(first?.textContent).toMatch(/Installed.*kubectl-create/);
  await userEvent.setup().click(screen.getByRole("button", { name: "2 lines differ: compare revision 2 with now" }));
  expect(within(await screen.findByRole("dialog", { name: "Revision 2 and now" })).getByText("replicas: 3")).toBeTruthy();
});
