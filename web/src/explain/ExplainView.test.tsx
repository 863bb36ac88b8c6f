// @vitest-environment jsdom
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";
import type { Explanation } from "../api/types";
import ExplainView from "./ExplainView";

const url = "https://photos.example.com/cat.jpg?w=300&s=kanarienvogel";
const explanation: Explanation = {
  url: "https://photos.example.com/cat.jpg?w=300",
  darkroom: { namespace: "team-a", name: "photos" },
  verdict: "WebFolder: the source has no image at this path",
  blame: "source",
  remedy: "Check that source.baseUrl followed by this path is an image",
  field: "source.baseUrl",
  hops: [
    { kind: "host", name: "photos.example.com", state: "ok", detail: "team-a/photos has the host" },
    { kind: "route", name: "Ingress photos", state: "unknown", detail: "you may not read it" },
    { kind: "gate", name: "gate of photos", state: "ok", status: 404, milliseconds: 14.2, bytes: 97, detail: "cache: miss" },
    { kind: "darkroom", name: "team-a/photos", state: "notAsked" },
    { kind: "source", name: "WebFolder", state: "failed", detail: "the source has no image at this path" },
  ],
};

let asked: unknown[];
let answer: () => Response;

beforeEach(() => {
  asked = [];
  answer = () => new Response(JSON.stringify(explanation));
  vi.stubGlobal("fetch", (path: string, { body }: RequestInit) => {
    asked.push([path, JSON.parse(body as string)]);
    return Promise.resolve(answer());
  });
});

async function ask(status?: string) {
  const user = userEvent.setup();
  render(<ExplainView />);
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Explain" }).disabled).toBe(true);
  await user.click(screen.getByLabelText(/^URL of an image/));
  await user.paste(url);
  if (status) {
    await user.type(screen.getByLabelText(/^Status/), status);
  }
  await user.click(screen.getByRole("button", { name: "Explain" }));
  return user;
}

test("the hop to blame is marked, and the remedy is a link", async () => {
  const user = await ask("404");
  const hops = within(await screen.findByRole("list", { name: "Hops" })).getAllByRole("listitem");
  expect(hops.map(({ textContent }) => textContent)).toEqual([
    "hostphotos.example.comteam-a/photos has the host",
    "routeIngress photosYou may not read it",
    "gategate of photos404 · 14 ms · 97 B · cache: miss",
    "·darkroomteam-a/photosNot requested",
    "sourceWebFolderTo blame",
  ]);
  expect(screen.getByRole("link", { name: "Edit source.baseUrl" }).getAttribute("href")).toBe("/ui/team-a/photos/edit?field=source.baseUrl");
  expect(screen.getByRole("link", { name: "Open photos" }).getAttribute("href")).toBe("/ui/team-a/photos");
  expect(screen.getByText(`${explanation.remedy ?? ""}.`)).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Explain" }));
  expect(asked).toEqual([["/explain", { url, status: 404 }], ["/explain", { url, status: 404 }]]);
  // A signature never becomes part of the page's address, which browsers and proxies store.
  expect(location.href + document.title).not.toContain("kanarienvogel");
});

test("what is wrong with a URL is shown", async () => {
  answer = () => new Response(JSON.stringify({ title: "Unprocessable Entity", status: 422, detail: "invalid URL of an image", errors: [{ location: "body.url", message: "must have a host" }] }), { status: 422 });
  await ask();
  expect(await screen.findByText("Invalid URL of an image: must have a host")).toBeTruthy();
});
