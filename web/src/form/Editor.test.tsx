// @vitest-environment jsdom
import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";
import { darkroom } from "../../test/darkrooms";
import { LiveContext } from "../live/useLive";
import { Store } from "../live/store";
import type { Darkroom, DarkroomInput } from "../api/types";
import { Editor } from "./Editor";
import { emptyInput, toInput } from "./model";

/** A server with one Darkroom, as others left it; it takes what fits the version. */
let stored: Darkroom;
let calls: { method: string; path: string; body: DarkroomInput | undefined; ifMatch: string | null }[];
/** What the next write is refused with. */
let refusal: object | undefined;

const reply = (status: number, body: unknown) =>
  Promise.resolve(new Response(typeof body === "string" ? body : JSON.stringify(body), { status }));

beforeEach(() => {
  stored = darkroom();
  calls = [];
  refusal = undefined;
  vi.stubGlobal("fetch", (path: string, init: RequestInit = {}) => {
    const { method = "GET" } = init;
    const body = typeof init.body === "string" ? (JSON.parse(init.body) as DarkroomInput) : undefined;
    const ifMatch = new Headers(init.headers).get("If-Match");
    calls.push({ method, path, body, ifMatch });
    if (path.startsWith("/access")) {
      return reply(200, { create: true, update: true, delete: true, image: true });
    }
    if (path.endsWith("/manifest")) {
      return reply(200, `replicas: ${(body ?? stored).replicas ?? 1}\n`);
    }
    if (method === "GET") {
      return reply(200, stored);
    }
    if (refusal) {
      return reply((refusal as { status: number }).status, refusal);
    }
    if (method === "PUT" && ifMatch !== `"${stored.resourceVersion ?? ""}"`) {
      return reply(412, { title: "Precondition Failed", status: 412, detail: "somebody was faster" });
    }
    const next = { ...stored, ...body, resourceVersion: String(Number(stored.resourceVersion) + 1) } as Darkroom;
    if (!path.includes("dryRun")) {
      stored = next;
    }
    return reply(method === "POST" ? 201 : 200, next);
  });
});

function edit() {
  const loaded = stored;
  render(
    <LiveContext value={new Store()}>
      <Editor initial={toInput(loaded)} loaded={loaded} />
    </LiveContext>,
  );
  return userEvent.setup();
}

/** Somebody else changes the Darkroom meanwhile. */
const meanwhile = (part: Partial<Darkroom>) => {
  stored = { ...stored, ...part, resourceVersion: String(Number(stored.resourceVersion) + 1) };
};

const button = (name: string) => screen.getByRole("button", { name });
const field = (id: string): HTMLElement => {
  const found = document.getElementById(id);
  if (!found) {
    throw new Error(`there is no ${id}`);
  }
  return found;
};
const writes = () => calls.filter(({ method, path }) => method !== "GET" && !path.endsWith("/manifest"));

test("what will change is shown before it is saved", async () => {
  const user = edit();
  await user.click(button("Number of pods: one more"));
  await user.click(button("Review changes"));
  const lines = await screen.findByRole("region", { name: "Manifests, line by line" });
  expect(within(lines).getByText(/replicas: 1/)).toBeTruthy();
  expect(within(lines).getByText(/replicas: 2/)).toBeTruthy();
  expect(stored.replicas).toBe(1);
  await user.click(button("Save"));
  await waitFor(() => expect(location.pathname).toBe("/ui/photos/cats"));
  expect(stored.replicas).toBe(2);
});

test("a version that differs in the status alone is no conflict", async () => {
  const user = edit();
  await user.click(button("Number of pods: one more"));
  meanwhile({ status: { ...stored.status, readyReplicas: 0, phase: "Degraded" } });
  await user.click(button("Review changes"));
  await user.click(await screen.findByRole("button", { name: "Save" }));
  await waitFor(() => expect(stored.replicas).toBe(2));
});

test("what others changed elsewhere is taken over, and told", async () => {
  const user = edit();
  await user.click(button("Number of pods: one more"));
  meanwhile({ logLevel: "debug" });
  await user.click(button("Review changes"));
  await screen.findByText(/Their change of logLevel is taken over/);
  await user.click(button("Review changes"));
  await user.click(await screen.findByRole("button", { name: "Save" }));
  await waitFor(() => expect(stored).toMatchObject({ replicas: 2, logLevel: "debug" }));
});

test.each([
  ["theirs", 5],
  ["yours", 2],
])("a clash is settled with %s", async (side, want) => {
  const user = edit();
  await user.click(button("Number of pods: one more"));
  meanwhile({ replicas: 5 });
  await user.click(button("Review changes"));
  await user.click(await screen.findByRole("radio", { name: new RegExp(`^replicas: ${side}`) }));
  await user.click(button("Go on with these"));
  await user.click(await screen.findByRole("button", { name: "Review changes" }));
  await user.click(await screen.findByRole("button", { name: "Save" }));
  await waitFor(() => expect(location.pathname).toBe("/ui/photos/cats"));
  expect(stored.replicas).toBe(want);
});

test("what the server finds stands beside its field, and goes when the field changes", async () => {
  const user = edit();
  refusal = { title: "Unprocessable", status: 422, detail: "no", errors: [{ location: "body.version", message: "Invalid value: must be a version" }] };
  await user.type(screen.getByLabelText("Version"), "x y");
  await user.click(button("Review changes"));
  const help = await waitFor(() => {
    const found = document.getElementById("field-version-help");
    expect(found?.textContent).toContain("must be a version");
    return found;
  });
  await user.type(screen.getByLabelText("Version"), "z");
  expect(help?.textContent).not.toContain("must be a version");
});

test("who may not is told so", async () => {
  const user = edit();
  refusal = { title: "Forbidden", status: 403, detail: 'user "viewer" may not update darkrooms' };
  await user.click(button("Number of pods: one more"));
  await user.click(button("Review changes"));
  await screen.findByText(/may not update darkrooms/);
});

test("a new Darkroom is not sent before its fields are filled in", async () => {
  render(
    <LiveContext value={new Store()}>
      <Editor initial={emptyInput("photos")} />
    </LiveContext>,
  );
  const user = userEvent.setup();
  await user.click(button("Review changes"));
  expect((await screen.findAllByText(/A name is needed/)).length).toBeGreaterThan(0);
  expect(document.activeElement).toBe(field("field-name"));
  expect(writes()).toEqual([]);
  await user.type(field("field-name"), "dogs");
  await user.type(field("field-source-baseUrl"), "https://example.com/dogs");
  await user.type(screen.getByLabelText("Sub-domain"), "dogs,puppies{Enter}");
  await user.click(button("Review changes"));
  await screen.findByRole("heading", { name: "What will be installed" });
  expect(writes().at(-1)?.body).toMatchObject({ name: "dogs", namespace: "photos", subDomains: ["dogs", "puppies"] });
});

test("form and YAML are one input", async () => {
  const user = edit();
  await user.click(screen.getByRole("tab", { name: "YAML" }));
  const yaml = await screen.findByLabelText<HTMLTextAreaElement>("Resource");
  await user.clear(yaml);
  expect(screen.getByRole("tab", { name: "Form" }).getAttribute("aria-disabled")).toBe("true");
  await user.click(yaml);
  await user.paste(
    "apiVersion: deployments.example.com/v1alpha1\nkind: Darkroom\nmetadata: {name: cats, namespace: photos}\nspec:\n  replicas: 4\n  source: {baseUrl: https://example.com}\n  subDomains: [cats]\n",
  );
  await user.click(screen.getByRole("tab", { name: "Form" }));
  expect(screen.getByLabelText<HTMLInputElement>("Number of pods").value).toBe("4");
});
