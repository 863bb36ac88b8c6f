// @vitest-environment jsdom
import { render, screen, within } from "@testing-library/react";
import { beforeEach, expect, test, vi } from "vitest";
import { darkroom } from "../../test/darkrooms";
import type { Condition, Darkroom } from "../api/types";
import { Overview } from "./Overview";
import { stepsOf } from "./progress";
import { htmlOf, imageUrl, markdownOf } from "./snippets";

let asked: string[];

beforeEach(() => {
  vi.stubGlobal("fetch", (path: string) => {
    asked.push(path);
    return Promise.resolve(path.includes("/image") ? new Response(JSON.stringify({ title: "Bad Gateway", detail: "no image" }), { status: 502 }) : new Response(JSON.stringify({ items: [] })));
  });
  asked = [];
});

/** The text of an entry of the card Details. */
function entry(of: Darkroom, term: string): string | null | undefined {
  render(<Overview darkroom={of} access={undefined} />);
  return screen.getByText(term).closest("div")?.querySelector("dd")?.textContent;
}

const checked = (condition: Omit<Condition, "type">): Darkroom =>
  darkroom({
    probe: { path: "/cat.jpg" },
    status: { ...darkroom().status, conditions: [{ type: "Ready", status: "True" }, { type: "SourceReady", ...condition }] },
  });

test.each<[string, Darkroom, string]>([
  ["without an image to check with", darkroom(), "None: whether images are served is not checked"],
  ["before the operator has seen it", darkroom({ probe: { path: "/cat.jpg" } }), "/cat.jpgNot checked yet"],
  ["an image that is served", checked({ status: "True", reason: "ImageServed" }), "/cat.jpgServed"],
  ["an image that is not served", checked({ status: "False", reason: "ImageNotFound" }), "/cat.jpgImage not found"],
])("%s, the details say so", (_, of, want) => {
  expect(entry(of, "Image check")).toBe(want);
});

test("the condition says why an image is not served", () => {
  render(<Overview darkroom={checked({ status: "False", reason: "ImageNotFound", message: "The source has no image /cat.jpg (HTTP 404)." })} access={undefined} />);
  expect(screen.getByText("Images are not served")).toBeTruthy();
  expect(screen.getByText("The source has no image /cat.jpg (HTTP 404).")).toBeTruthy();
  expect(screen.getByText("All pods are ready")).toBeTruthy();
});

test("the URL of the status is a link, and the other hosts have its scheme", () => {
  const of = darkroom({ status: { ...darkroom().status, domains: ["album.example.com", "cats.example.com"], url: "https://album.example.com" } });
  render(<Overview darkroom={of} access={undefined} />);
  const links = screen.getAllByRole("link").map((link) => link.getAttribute("href"));
  expect(links).toEqual(["https://album.example.com", "https://album.example.com", "https://cats.example.com"]);
  expect(within(document.body).getByRole("link", { name: "https://album.example.com" })).toBeTruthy();
});

test("without a URL there is no link to it", () => {
  const of = darkroom({ status: { ...darkroom().status, domains: [] } });
  expect(entry(of, "URL")).toBe("–");
});

const withImage = (condition: Omit<Condition, "type">, readyReplicas = 1) => {
  const of = checked(condition);
  return { ...of, status: { ...of.status, readyReplicas } };
};

test("the image of the check is shown, with its URL and for how long it is served", async () => {
  const since = new Date(Date.now() - 3_600_000).toISOString();
  render(<Overview darkroom={withImage({ status: "True", reason: "ImageServed", lastTransitionTime: since })} access={undefined} />);
  expect(asked).toContain("/darkrooms/photos/cats/image?w=320&path=%2Fcat.jpg");
  expect(screen.getByText(/checked every/).textContent).toBe("Served for 1h, checked every 60 seconds");
  expect(screen.getByDisplayValue("http://cats.darkroom.example.com/cat.jpg")).toBeTruthy();
  expect(await screen.findByText("no image")).toBeTruthy();
});

test("without a ready pod no image is asked for", () => {
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
])("when %s, the steps say so", (_, of, want) => {
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
  const done = ["Initialized", "Deployed", "Ready", "DomainsReady"].map((type) => ({ type, status: "True" }));
  rerender(<Overview darkroom={darkroom({ status: { ...darkroom().status, conditions: done } })} access={undefined} />);
  expect(screen.getByLabelText("Hosts routed: done")).toBeTruthy();
  expect(screen.getByLabelText("First image served: not checked")).toBeTruthy();
});

test.each([
  ["/a b.jpg", "?w=1&h=2", "http://x/a%20b.jpg?w=1&h=2", '<img src="http://x/a%20b.jpg?w=1&amp;h=2" alt="a b">', "![a b](http://x/a%20b.jpg?w=1&h=2)"],
  ['/a"(1)].png', "", "http://x/a%22(1)%5D.png", '<img src="http://x/a%22(1)%5D.png" alt="a&quot;(1)]">', '![a"(1)\\]](http://x/a%22%281%29%5D.png)'],
])("%s%s is copied as URL, HTML and Markdown", (path, query, url, html, markdown) => {
  expect(imageUrl("http://x", path, query)).toBe(url);
  expect(htmlOf(url, path)).toBe(html);
  expect(markdownOf(url, path)).toBe(markdown);
});
