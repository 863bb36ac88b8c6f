// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, expect, test, vi } from "vitest";
import { darkroom } from "../../test/darkrooms";
import type { Access, Condition, Darkroom } from "../api/types";
import { Overview } from "./Overview";
import { stepsOf } from "./progress";
import { htmlOf, imageUrl } from "./snippets";

let asked: string[];

beforeEach(() => {
  vi.stubGlobal("fetch", (path: string) => {
    asked.push(path);
    return Promise.resolve(path.includes("/image") ? new Response(JSON.stringify({ title: "Bad Gateway", detail: "no image" }), { status: 502 }) : new Response(JSON.stringify({ items: [] })));
  });
  asked = [];
});

const checked = (condition: Omit<Condition, "type">): Darkroom =>
  darkroom({
    probe: { path: "/cat.jpg" },
    status: { ...darkroom().status, conditions: [{ type: "Ready", status: "True" }, { type: "SourceReady", ...condition }] },
  });

/** Opens a folded part. */
const unfold = (name: string) => fireEvent.click(screen.getByRole("button", { name }));

test("the cause is shown once, with the operator's message and the remedies", () => {
  const sentence = "The source has no image /cat.jpg (HTTP 404).";
  const of = checked({ status: "False", reason: "ImageNotFound", message: sentence });
  const conditions = [{ type: "Ready", status: "False" as const, reason: "ImageNotFound", message: sentence }, ...(of.status.conditions ?? []).slice(1)];
  render(<Overview darkroom={{ ...of, status: { ...of.status, phase: "Degraded", message: sentence, conditions } }} access={undefined} />);
  expect(screen.getAllByText("Image not found", { exact: false })).toHaveLength(1);
  expect(screen.getAllByText(sentence)).toHaveLength(1);
  expect(screen.getByRole("link", { name: "Edit base URL" }).getAttribute("href")).toBe("/ui/photos/cats/edit?field=source.baseUrl");
});

test("while old pods serve, a missing image is mentioned beside the cause and not again", async () => {
  const message = "New pods do not serve the image of spec.probe.";
  const of = withImage({ status: "False", reason: "NewPodsNotServing", message });
  const conditions = [{ type: "Ready", status: "False" as const, reason: "ImageNotFound", message }, ...(of.status.conditions ?? []).slice(1)];
  render(<Overview darkroom={{ ...of, status: { ...of.status, phase: "Degraded", message, conditions } }} access={undefined} />);
  expect(await screen.findByText("No image: No image")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Try again" })).toBeNull();
});

test("without permission to update, the only remedy is another check", () => {
  const of = darkroom({ status: { ...darkroom().status, phase: "Degraded", conditions: [{ type: "Ready", status: "False", reason: "SourceTimeout" }] } });
  render(<Overview darkroom={of} access={{ update: false } as Access} />);
  expect(screen.queryByRole("link", { name: "Edit base URL" })).toBeNull();
  expect(screen.getByRole("button", { name: "Check again" })).toBeTruthy();
});

test("all hosts have the scheme and the port of the published URL", () => {
  const of = darkroom({ status: { ...darkroom().status, domains: ["album.example.com", "cats.example.com"], url: "https://album.example.com:8443" } });
  render(<Overview darkroom={of} access={undefined} />);
  unfold("Details");
  const links = ["album.example.com", "cats.example.com"].map((name) => screen.getByRole("link", { name }).getAttribute("href"));
  expect(links).toEqual(["https://album.example.com:8443", "https://cats.example.com:8443"]);
});

test("without an image to check with, the overview suggests setting one", () => {
  render(<Overview darkroom={darkroom()} access={undefined} />);
  expect(screen.getByRole("link", { name: "Set an image" }).getAttribute("href")).toBe("/ui/photos/cats/edit?field=probe.path");
});

const withImage = (condition: Omit<Condition, "type">, readyReplicas = 1) => {
  const of = checked(condition);
  return { ...of, status: { ...of.status, readyReplicas } };
};

test("the image of the check is shown, with its URL and for how long it is served", async () => {
  const since = new Date(Date.now() - 3_600_000).toISOString();
  render(<Overview darkroom={withImage({ status: "True", reason: "ImageServed", lastTransitionTime: since })} access={undefined} />);
  expect(asked).toContain("/darkrooms/photos/cats/image?w=960&path=%2Fcat.jpg");
  expect(screen.getByText(/served for/).textContent).toBe("Ready · 1 pod · served for 1h");
  expect(screen.getByLabelText("URL of the image").textContent).toBe("http://cats.darkroom.example.com/cat.jpg");
  expect(await screen.findAllByText("No image")).toHaveLength(2); // the title, and the message of the server
});

test("without a ready pod no image is requested", () => {
  render(<Overview darkroom={withImage({ status: "False", reason: "Unreachable" }, 0)} access={undefined} />);
  expect(screen.getByText("No pod is ready, so no image is served.")).toBeTruthy();
  expect(asked.filter((path) => path.includes("/image"))).toEqual([]);
});

const deploying = (conditions: Condition[], readyReplicas = 0, part: Partial<Darkroom> = {}): Darkroom =>
  darkroom({ status: { phase: "Deploying", domains: [], replicas: 1, readyReplicas, conditions }, ...part });

test.each<[string, Darkroom, string[]]>([
  ["nothing has happened", deploying([]), ["waiting", "waiting", "waiting", "waiting", "unchecked"]],
  [
    "pods start",
    deploying([
      { type: "Initialized", status: "True" },
      { type: "Deployed", status: "True" },
      { type: "Ready", status: "False", reason: "Deploying" },
      { type: "DomainsReady", status: "False", reason: "NotRouted" },
    ]),
    ["done", "done", "busy", "waiting", "unchecked"],
  ],
  [
    "pods are ready, and the image is not served",
    deploying(
      [
        { type: "Initialized", status: "True" },
        { type: "Deployed", status: "True" },
        { type: "Ready", status: "False", reason: "ImageNotFound" },
        { type: "DomainsReady", status: "True" },
        { type: "SourceReady", status: "False", reason: "ImageNotFound" },
      ],
      1,
      { probe: { path: "/cat.jpg" } },
    ),
    ["done", "done", "done", "done", "failed"],
  ],
  [
    "new pods wait for an image that the source lacks",
    deploying(
      [
        { type: "Initialized", status: "True" },
        { type: "Deployed", status: "True" },
        { type: "Ready", status: "False", reason: "ImageNotFound", message: "no such image" },
        { type: "DomainsReady", status: "True" },
        { type: "SourceReady", status: "False", reason: "ImageNotFound", message: "no such image" },
      ],
      0,
      { probe: { path: "/cat.jpg" } },
    ),
    ["done", "done", "waiting", "done", "failed"],
  ],
])("when %s, the steps show it", (_, of, want) => {
  expect(stepsOf(of).map(({ state }) => state)).toEqual(want);
});

test("ready pods are no proof that an image is served", () => {
  const steps = stepsOf(darkroom({ probe: { path: "/cat.jpg" }, status: { ...darkroom().status, conditions: [{ type: "Ready", status: "True" }] } }));
  expect(steps.map(({ title, state }) => [title, state])).toContainEqual(["Pods ready", "done"]);
  expect(steps.at(-1)).toEqual({ title: "First image served", state: "waiting", detail: undefined });
});

test("the progress is shown until it has ended", () => {
  const { rerender } = render(<Overview darkroom={deploying([])} access={undefined} />);
  expect(screen.getByRole("list", { name: "Progress" })).toBeTruthy();
  const done = ["Initialized", "Deployed", "Ready", "DomainsReady"].map((type) => ({ type, status: "True" as const }));
  rerender(<Overview darkroom={darkroom({ status: { ...darkroom().status, conditions: done } })} access={undefined} />);
  expect(screen.queryByRole("list", { name: "Progress" })).toBeNull();
});

test.each([
  ["/a b.jpg", "?w=1&h=2", "http://x/a%20b.jpg?w=1&h=2", '<img src="http://x/a%20b.jpg?w=1&amp;h=2" alt="a b">'],
  ['/a"(1)].png', "", "http://x/a%22(1)%5D.png", '<img src="http://x/a%22(1)%5D.png" alt="a&quot;(1)]">'],
])("%s%s is copied as URL and HTML", (path, query, url, html) => {
  expect(imageUrl("http://x", path, query)).toBe(url);
  expect(htmlOf(url, path)).toBe(html);
});

test("the pods unfold while they change, and only the user folds them again", () => {
  const at = (phase: "Ready" | "Deploying") => <Overview darkroom={darkroom({ status: { ...darkroom().status, replicas: 1, phase } })} access={undefined} />;
  const { rerender } = render(at("Ready"));
  const isOpen = () => screen.getByRole("button", { name: /^Pods:/ }).getAttribute("aria-expanded");
  expect(isOpen()).toBe("false");
  rerender(at("Deploying"));
  expect(isOpen()).toBe("true");
  rerender(at("Ready"));
  expect(isOpen()).toBe("true");
  fireEvent.click(screen.getByRole("button", { name: /^Pods:/ }));
  expect(isOpen()).toBe("false");
});
