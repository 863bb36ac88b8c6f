// @vitest-environment jsdom
import { render, screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { darkroom } from "../../test/darkrooms";
import type { Darkroom } from "../api/types";
import { noParams } from "./params";
import { Responsive } from "./Responsive";
import { choiceOf } from "./srcset";

/** Serves images of one kibibyte for each pixel of width, and half of that as WebP. */
function serve() {
  vi.stubGlobal("fetch", (path: string) => {
    const query = new URL(path, "http://page").searchParams;
    const webp = query.get("auto")?.split(",").includes("format");
    const body = new Uint8Array((Number(query.get("w")) * 1024) / (webp ? 2 : 1));
    return Promise.resolve(new Response(body, { headers: { "Content-Type": webp ? "image/webp" : "image/jpeg" } }));
  });
}

async function measure(of: Darkroom, webp = false) {
  serve();
  const params = { ...noParams, w: "300", webp };
  render(<Responsive darkroom={of} path="/cat.jpg" params={params} choice={choiceOf(params, { width: 600, height: 400 })} />);
  return (await screen.findAllByRole("listitem")).map(({ textContent }) => textContent);
}

test("WebP is shown beside the usual format if there is a gate", async () => {
  expect(await measure(darkroom({ gate: {} }))).toContain("600w 600.0 KiB as JPEG, 300.0 KiB as WebP");
});

test("without a gate there is one format", async () => {
  expect(await measure(darkroom({ gate: undefined }))).toContain("600w 600.0 KiB as JPEG");
});
