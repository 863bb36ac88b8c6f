// @vitest-environment jsdom
import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";
import { darkroom } from "../test/darkrooms";
import { App } from "./App";

/** Whether the server takes the session. */
let good: boolean;

const reply = (status: number, body: unknown) => Promise.resolve(new Response(typeof body === "string" ? body : JSON.stringify(body), { status }));

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
        return new Promise((_, reject) => init.signal?.addEventListener("abort", () => reject(new DOMException("over", "AbortError"))));
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

test("a session that expires elsewhere leads to the sign-in view; signing out removes drafts", async () => {
  sessionStorage.setItem("darkroom-draft photos/cats", "{}");
  history.replaceState(null, "", "/ui/photos/cats");
  render(<App />);
  const user = userEvent.setup();
  await user.click(await screen.findByRole("button", { name: "Signed in as alice" }));
  await user.click(await screen.findByRole("menuitem", { name: "Sign out" }));
  await screen.findByRole("heading", { name: "Sign in to Darkrooms" });
  expect(sessionStorage.length).toBe(0);
  await waitFor(() => expect(screen.queryByText("Your session has expired", { exact: false })).toBeNull());
});
