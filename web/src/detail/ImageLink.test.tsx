// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, expect, test, vi } from "vitest";
import { darkroom } from "../../test/darkrooms";
import type { Darkroom } from "../api/types";
import { ImageLink } from "./ImageLink";

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

const show = (of: Darkroom) => render(<ImageLink darkroom={of} path="/cat.jpg" query="?w=300" />);

async function copy() {
  fireEvent.click(await screen.findByRole("button", { name: "Copy the URL" }));
  return copied.at(-1);
}

test("what is copied has the signature that a Darkroom demands", async () => {
  show(signing("Require"));
  expect(await copy()).toBe("http://cats.darkroom.example.com/cat.jpg?w=300&s=signature-of-w%3D300");
});

test("nothing is signed while signatures are only reported", async () => {
  show(signing("Report"));
  expect(await copy()).toBe("http://cats.darkroom.example.com/cat.jpg?w=300");
});

test("who may not sign is told what is missing", async () => {
  mayRead = false;
  show(signing("Require"));
  expect(await screen.findByText(/permission to get the Secret "keys"/)).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Copy the URL" })).toBeNull();
});
