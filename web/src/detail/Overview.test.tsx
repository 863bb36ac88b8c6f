// @vitest-environment jsdom
import { render, screen, within } from "@testing-library/react";
import { beforeEach, expect, test, vi } from "vitest";
import { darkroom } from "../../test/darkrooms";
import type { Condition, Darkroom } from "../api/types";
import { Overview } from "./Overview";

beforeEach(() => {
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(JSON.stringify({ items: [] }))));
});

/** The text of an entry of the card Details. */
function entry(of: Darkroom, term: string): string | null | undefined {
  render(<Overview darkroom={of} />);
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
  render(<Overview darkroom={checked({ status: "False", reason: "ImageNotFound", message: "The source has no image /cat.jpg (HTTP 404)." })} />);
  expect(screen.getByText("Images are not served")).toBeTruthy();
  expect(screen.getByText("The source has no image /cat.jpg (HTTP 404).")).toBeTruthy();
  expect(screen.getByText("All pods are ready")).toBeTruthy();
});

test("the URL of the status is a link, and the other hosts have its scheme", () => {
  const of = darkroom({ status: { ...darkroom().status, domains: ["album.example.com", "cats.example.com"], url: "https://album.example.com" } });
  render(<Overview darkroom={of} />);
  const links = screen.getAllByRole("link").map((link) => link.getAttribute("href"));
  expect(links).toEqual(["https://album.example.com", "https://album.example.com", "https://cats.example.com"]);
  expect(within(document.body).getByRole("link", { name: "https://album.example.com" })).toBeTruthy();
});

test("without a URL there is no link to it", () => {
  const of = darkroom({ status: { ...darkroom().status, domains: [] } });
  expect(entry(of, "URL")).toBe("–");
});
