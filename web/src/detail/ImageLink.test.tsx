// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, expect, test, vi } from "vitest";
import { darkroom } from "../../test/darkrooms";
import type { Darkroom } from "../api/types";
import { ImageLink } from "./ImageLink";
import { noParams } from "./params";
import { choiceOf } from "./srcset";

let copied: string[];
let mayRead: boolean;

beforeEach(() => {
  [copied, mayRead] = [[], true];
  Object.defineProperty(navigator, "clipboard", { value: { writeText: (text: string) => Promise.resolve(void copied.push(text)) }, configurable: true });
  vi.stubGlobal("fetch", (path: string) => {
    const query = new URL(path, "http://page").searchParams;
    const of = query.get("path") ?? "";
    query.delete("path");
    query.append("s", `signature-of-${query.toString()}`);
    return Promise.resolve(
      mayRead
        ? new Response(JSON.stringify({ url: `${of}?${query.toString()}` }), { headers: { "Content-Type": "application/json" } })
        : new Response(JSON.stringify({ title: "Forbidden", detail: 'you need permission to get the Secret "keys"' }), { status: 403 }),
    );
  });
});

const signing = (mode: "Require" | "Report"): Darkroom => darkroom({ gate: { signing: { mode, secretRef: { name: "keys" } } } });

function show(of: Darkroom) {
  const params = { ...noParams, w: "300" };
  render(<ImageLink darkroom={of} path="/cat.jpg" query="?w=300" choice={choiceOf(params, { width: 900, height: 600 })} />);
}

/** Opens the menu, and returns its formats. */
async function open() {
  fireEvent.click(await screen.findByRole("button", { name: /^(Copy|Copied .*)$/ }));
  return (await screen.findAllByRole("menuitem")).map(({ textContent }) => textContent);
}

async function copy(format: string) {
  await open();
  fireEvent.click(screen.getByRole("menuitem", { name: format }));
  return copied.at(-1) ?? "";
}

test("copied URLs have the signatures that a Darkroom requires", async () => {
  show(signing("Require"));
  expect(await copy("URL")).toBe("http://cats.darkroom.example.com/cat.jpg?w=300&s=signature-of-w%3D300");
  const srcset = /srcset="([^"]*)"/.exec(await copy("srcset"))?.[1] ?? "";
  const candidates = srcset.replaceAll("&amp;", "&").split(", ");
  expect(candidates.length).toBeGreaterThan(1);
  for (const candidate of candidates) {
    const width = /w=(\d+)&s=signature-of-w%3D(\d+) (\d+)w$/.exec(candidate);
    expect(width?.slice(1)).toEqual([width?.[3], width?.[3], width?.[3]]);
  }
  expect(await open()).not.toContain("Next.js");
});

test("nothing is signed while signatures are only reported", async () => {
  show(signing("Report"));
  expect(await copy("URL")).toBe("http://cats.darkroom.example.com/cat.jpg?w=300");
  expect(await open()).toContain("Next.js");
});

test("users who may not sign see the missing permission", async () => {
  mayRead = false;
  show(signing("Require"));
  expect(await screen.findByText(/permission to get the Secret "keys"/)).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Copy" })).toBeNull();
});
