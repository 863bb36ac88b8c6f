// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";
import { darkroom } from "../test/darkrooms";
import { App } from "./App";
// Views that App loads when they are opened: loaded here, so that no test waits for it.
import "./detail/DetailView";
import "./form/FormView";
import "./layout/SignIn";
import "./layout/SignInDialog";

/** Whether the server takes the session. */
let good: boolean;

const reply = (status: number, body: unknown) => Promise.resolve(new Response(typeof body === "string" ? body : JSON.stringify(body), { status }));

/** Live events with one Darkroom, until the page leaves. */
const stream = (signal: AbortSignal | null | undefined) =>
  new ReadableStream({
    start: (out) => {
      const events = [["reset", {}], ["added", darkroom()], ["synced", { items: 1, all: true }]] as const;
      out.enqueue(new TextEncoder().encode(events.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join("")));
      signal?.addEventListener("abort", () => out.close());
    },
  });

beforeEach(() => {
  good = true;
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }));
  vi.stubGlobal("fetch", (path: string, init: RequestInit = {}) => {
    const { method = "GET" } = init;
    if (path === "/session" && method === "POST") {
      good = typeof init.body === "string" && init.body.includes("good");
      return reply(good ? 200 : 401, good ? {} : { title: "Unauthorized", status: 401, detail: "the cluster does not accept the token" });
    }
    if (!good) {
      return reply(401, { title: "Unauthorized", status: 401, detail: "the cluster does not accept the token" });
    }
    switch (path.replace(/\?.*/, "")) {
      case "/session":
        return reply(200, { username: "alice", groups: [], auth: "token" });
      case "/settings":
        return reply(200, { baseDomain: "example.com", darkroomVersion: "v1", namespaces: [], version: "v1" });
      case "/access":
        return reply(200, { create: true, update: true, delete: true, image: true });
      case "/events/stream":
        return Promise.resolve(new Response(stream(init.signal)));
      default:
        return reply(200, path.endsWith("/manifest") ? `replicas: ${method}\n` : darkroom());
    }
  });
});

test("a session that expires while editing is renewed above the form, which then continues", async () => {
  history.replaceState(null, "", "/ui/photos/cats/edit");
  render(<App />);
  const user = userEvent.setup();
  await user.click(await screen.findByRole("button", { name: "Number of pods: increase" }));
  good = false;
  await user.click(screen.getByRole("button", { name: "Review changes" }));
  const token = await screen.findByLabelText(/^Token/);
  expect(screen.getByText("Your session has expired")).toBeTruthy();
  await user.type(token, "bad");
  await user.click(screen.getByRole("button", { name: "Sign in" }));
  await screen.findByText("Sign-in failed", { exact: false });
  await user.clear(token);
  await user.type(token, "good");
  await user.click(screen.getByRole("button", { name: "Sign in" }));
  // The check that was refused goes on without another click.
  await screen.findByRole("region", { name: "Manifests, line by line" });
  expect(screen.queryByLabelText(/^Token/)).toBeNull();
});

test("elsewhere it leads to the sign-in view, and back to where the user was", async () => {
  history.replaceState(null, "", "/ui/photos/cats");
  render(<App />);
  const user = userEvent.setup();
  await screen.findByRole("heading", { name: "cats" });
  good = false;
  await user.click(screen.getByRole("tab", { name: "Events" }));
  await screen.findByText("Your session has expired. Sign in again.", { exact: false });
  fireEvent.change(screen.getByLabelText(/^Token/), { target: { value: "good" } });
  await user.click(screen.getByRole("button", { name: "Sign in" }));
  await screen.findByRole("heading", { name: "cats" });
});

test("signing out removes drafts", async () => {
  sessionStorage.setItem("darkroom-draft photos/cats", "{}");
  history.replaceState(null, "", "/ui/photos/cats");
  render(<App />);
  const user = userEvent.setup();
  await user.click(await screen.findByRole("button", { name: "Signed in as alice" }));
  await user.click(await screen.findByRole("menuitem", { name: "Sign out" }));
  await screen.findByRole("heading", { name: "Sign in to Darkrooms" });
  expect(sessionStorage.length).toBe(0);
});
