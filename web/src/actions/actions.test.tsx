// @vitest-environment jsdom
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";
import { darkroom } from "../../test/darkrooms";
import type { Access, Darkroom } from "../api/types";
import DetailView from "../detail/DetailView";
import { Toasts } from "../layout/toasts";
import { readDraft } from "../form/drafts";
import { LiveContext } from "../live/useLive";
import { Store } from "../live/store";
import { actionNames, commandOf, patchOf, refusalOf, type ActionName } from "./actions";
import { pausedAnnotation, requestedAnnotation } from "../model/annotations";

/** A server with one Darkroom. A write to another version is rejected. */
let stored: Darkroom;
let access: Access;
let writes: { method: string; body: unknown; ifMatch: string | null; type: string | null }[];

const reply = (status: number, body: unknown) => Promise.resolve(new Response(status === 204 ? null : JSON.stringify(body), { status }));

beforeEach(() => {
  stored = darkroom();
  access = { create: true, update: true, delete: true, image: true, log: true, createSecret: true };
  writes = [];
  vi.stubGlobal("fetch", (path: string, { method = "GET", body, headers }: RequestInit = {}) => {
    if (path.startsWith("/access")) {
      return reply(200, access);
    }
    if (method === "GET") {
      return reply(200, path === "/darkrooms/photos/cats" ? stored : { items: [] });
    }
    const [ifMatch, type] = ["If-Match", "Content-Type"].map((name) => new Headers(headers).get(name)) as [string | null, string | null];
    writes.push({ method, ifMatch, type, body: typeof body === "string" ? (JSON.parse(body) as unknown) : undefined });
    if (method !== "POST" && ifMatch !== stored.etag) {
      return reply(412, { title: "Precondition Failed", status: 412, detail: "the version is stale" });
    }
    return method === "DELETE" ? reply(204, undefined) : reply(200, { ...stored, etag: '"99"' });
  });
});

function open() {
  const store = new Store();
  for (const [event, data] of [["reset", {}], ["added", stored], ["synced", { all: true }]] as const) {
    store.take({ event, data: JSON.stringify(data), id: undefined });
  }
  render(
    <LiveContext value={store}>
      <DetailView of={stored} />
      <Toasts />
    </LiveContext>,
  );
  return userEvent.setup();
}

async function choose(entry: string) {
  const user = open();
  await user.click(screen.getByRole("button", { name: "Actions" }));
  await user.click(await screen.findByRole("menuitem", { name: entry }));
  return user;
}

const at = "2026-01-01T00:00:00Z";

/** The command in a dialog, which is folded. */
const command = () => {
  fireEvent.click(screen.getByRole("button", { name: "The same with kubectl" }));
  return screen.getByRole("region", { name: "kubectl command" }).textContent;
};

test.each<[ActionName, unknown, string]>([
  ["restart", { podTemplate: { annotations: { "kubectl.kubernetes.io/restartedAt": at } } },
    `kubectl -n photos patch darkroom/cats --type=merge -p '{"spec":{"podTemplate":{"annotations":{"kubectl.kubernetes.io/restartedAt":"${at}"}}}}'`],
  ["scale", { replicas: 3 }, "kubectl -n photos scale darkroom/cats --replicas=3"],
  ["pause", { annotations: { [pausedAnnotation]: "true" } }, "kubectl -n photos annotate darkroom/cats --overwrite deployments.example.com/paused=true"],
  ["resume", { annotations: { [pausedAnnotation]: null } }, "kubectl -n photos annotate darkroom/cats deployments.example.com/paused-"],
  ["retry", { annotations: { [requestedAnnotation]: at } }, `kubectl -n photos annotate darkroom/cats --overwrite deployments.example.com/requested-at=${at}`],
])("%s is a patch, and a command", (action, patch, command) => {
  expect(patchOf(action, at, 3)).toEqual(patch);
  expect(commandOf(action, darkroom(), at, 3)).toBe(command);
});

test("the annotations match the API's", () => {
  const source = readFileSync(join(import.meta.dirname, "../../../api/v1alpha1/annotations.go"), "utf8");
  expect(source).toContain(`AnnotationPaused = "${pausedAnnotation}"`);
  expect(source).toContain(`AnnotationRequestedAt = "${requestedAnnotation}"`);
});

const paused = darkroom({ annotations: { [pausedAnnotation]: "true" } });

test.each<[string, Darkroom, ActionName[]]>([
  ["one that runs", darkroom(), ["restart", "scale", "pause", "retry"]],
  ["one that is paused", paused, ["resume"]],
  ["one with autoscaling", darkroom({ autoscaling: { maxReplicas: 3 } }), ["restart", "pause", "retry"]],
  ["one without pods", darkroom({ replicas: 0 }), ["scale", "pause", "retry"]],
  ["one that is deleted", darkroom({ deletedAt: at }), []],
])("for %s the possible actions are offered", (_, of, want) => {
  expect(actionNames.filter((action) => refusalOf(action, of, undefined) === undefined)).toEqual(want);
  expect(actionNames.filter((action) => refusalOf(action, of, { create: true, update: false, delete: false, image: false, log: false, createSecret: false }) === undefined)).toEqual([]);
});

test("without the permission, an action names it", async () => {
  access = { create: false, update: false, delete: false, image: false, log: false, createSecret: false };
  const user = open();
  await user.click(screen.getByRole("button", { name: "Actions" }));
  await waitFor(() => expect(screen.getAllByText("You do not have permission to update this Darkroom")).toHaveLength(4));
  await user.click(screen.getByText("Restart pods"));
  expect(screen.queryByRole("dialog")).toBeNull();
});

test("an action is confirmed, and changes the version that was seen", async () => {
  const user = await choose("Scale");
  const field = await screen.findByLabelText(/Number of pods/);
  fireEvent.change(field, { target: { value: "1001" } });
  expect(screen.getByText("Must be from 0 to 1000")).toBeTruthy();
  expect(screen.getByRole("button", { name: "Scale" }).hasAttribute("disabled")).toBe(true);
  fireEvent.change(field, { target: { value: "0" } });
  expect(screen.getByText("Scaled to zero: no images are served")).toBeTruthy();
  expect(command()).toBe("kubectl -n photos scale darkroom/cats --replicas=0");
  await user.click(screen.getByRole("button", { name: "Scale" }));
  expect(await screen.findByText("Number of pods changed")).toBeTruthy();
  expect(screen.queryByRole("dialog")).toBeNull();
  expect(writes).toEqual([{ method: "PATCH", ifMatch: '"10"', type: "application/merge-patch+json", body: { replicas: 0 } }]);
});

test.each([
  ["Scale", { replicas: 1 }],
  ["Pause reconciliation", { annotations: { [pausedAnnotation]: null } }],
])("%s is undone", async (entry, undone) => {
  const user = await choose(entry);
  if (entry === "Scale") {
    fireEvent.change(await screen.findByLabelText(/Number of pods/), { target: { value: "0" } });
  }
  await user.click(await screen.findByRole("button", { name: entry.split(" ")[0] }));
  const undo = await screen.findByRole("button", { name: "Undo" });
  stored = { ...stored, etag: '"99"' };
  await user.click(undo);
  await waitFor(() => expect(writes.at(-1)).toMatchObject({ ifMatch: '"99"', body: undone }));
  expect(screen.queryByRole("button", { name: "Undo" })).toBeNull();
});

test("what was deleted can be created again, in the form", async () => {
  stored = darkroom({ source: { type: "S3", bucket: "b", region: "r", credentials: "inline" }, replicas: 4 });
  const user = open();
  await user.click(screen.getByRole("button", { name: "Delete" }));
  await user.type(screen.getByLabelText(/to confirm/), "cats");
  await user.click(screen.getAllByRole("button", { name: "Delete" }).at(-1) ?? document.body);
  await user.click(await screen.findByRole("button", { name: "Create it again…" }));
  expect(location.pathname).toBe("/ui/create");
  expect(readDraft(undefined)).toMatchObject({ input: { name: "cats", replicas: 4, subDomains: ["cats"] }, withheld: ["source.accessKey", "source.secretKey"] });
});

test.each<[string | undefined, string]>([
  [undefined, "cats-s3"],
  ["album-keys", "cats-s3"],
  ["cats-s3", "cats-s3-2"],
  ["cats-s3-9", "cats-s3-10"],
])("keys of the Secret %s are rotated to %s", async (used, name) => {
  stored = darkroom({ source: { type: "S3", bucket: "b", region: "r", ...(used ? { credentials: "secretRef", credentialsSecretRef: { name: used } } : { credentials: "inline" }) } });
  const user = await choose("Rotate keys");
  await user.type(await screen.findByLabelText(/^Access key/), "new-access");
  expect(screen.getByRole("button", { name: "Rotate" }).hasAttribute("disabled")).toBe(true);
  await user.type(screen.getByLabelText(/^Secret key/), "new-secret");
  expect(command()).not.toContain("new-");
  await user.click(screen.getByRole("button", { name: "Rotate" }));
  await screen.findByText(new RegExp(`gets its keys from the Secret ${name}\\.`));
  expect(writes.map(({ method, body }) => ({ method, body }))).toEqual([
    { method: "POST", body: { namespace: "photos", name, accessKey: "new-access", secretKey: "new-secret" } },
    { method: "PATCH", body: { source: { credentialsSecretRef: { name, accessKeyKey: null, secretKeyKey: null, credentialsJsonKey: null }, accessKey: null, secretKey: null } } },
  ]);
});

test.each(["new-access", "new-secret", undefined])("the Secret that is referred to has the keys that the dialog shows, also if %s is corrected after a failure", async (corrected) => {
  stored = darkroom({ source: { type: "S3", bucket: "b", region: "r", credentials: "inline" } });
  const secrets = new Map<string, Record<string, string>>();
  let refused = true;
  const others = fetch;
  vi.stubGlobal("fetch", (path: string, init: RequestInit = {}) => {
    const body = (typeof init.body === "string" ? JSON.parse(init.body) : {}) as { name: string };
    if (path === "/secrets" && secrets.has(body.name)) {
      return reply(409, { title: "Conflict", status: 409, detail: "it already exists: choose another name" });
    }
    if (path === "/secrets") {
      secrets.set(body.name, body);
    }
    return init.method === "PATCH" && refused ? reply(403, { title: "Forbidden", status: 403, detail: "not yet" }) : others(path, init);
  });
  const user = await choose("Rotate keys");
  const keys = { accessKey: "new-access", secretKey: "new-secret" };
  const set = (label: RegExp, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } });
  await screen.findByLabelText(/^Access key/);
  set(/^Access key/, keys.accessKey);
  set(/^Secret key/, keys.secretKey);
  await user.click(screen.getByRole("button", { name: "Rotate" }));
  await screen.findByText("Not yet");
  refused = false;
  for (const [field, label] of [["accessKey", /^Access key/], ["secretKey", /^Secret key/]] as const) {
    if (keys[field] === corrected) {
      set(label, (keys[field] = "corrected"));
    }
  }
  await user.click(screen.getByRole("button", { name: "Rotate" }));
  await waitFor(() => expect(screen.queryByText("It already exists: choose another name") ?? screen.queryByText(/gets its keys from the Secret/)).not.toBeNull());
  if (screen.queryByText("It already exists: choose another name")) {
    set(/^Name of the new Secret/, "cats-s3-2");
    await user.click(screen.getByRole("button", { name: "Rotate" }));
  }
  await screen.findByText(/gets its keys from the Secret/);
  const { source } = writes.at(-1)?.body as { source: { credentialsSecretRef: { name: string } } };
  expect(secrets.get(source.credentialsSecretRef.name)).toMatchObject(keys);
});

test("what others changed meanwhile is not overwritten", async () => {
  const user = await choose("Restart pods");
  stored = { ...stored, etag: '"11"', replicas: 4 };
  await user.click(await screen.findByRole("button", { name: "Restart" }));
  expect(await screen.findByText("Darkroom changed")).toBeTruthy();
  expect(writes).toHaveLength(1);
});

test("a deletion names the version that was seen", async () => {
  const user = open();
  await user.click(screen.getByRole("button", { name: "Delete" }));
  expect(command()).toBe("kubectl -n photos delete darkroom/cats");
  await user.type(screen.getByLabelText(/to confirm/), "cats");
  stored = { ...stored, etag: '"11"', uid: "another" };
  const buttons = screen.getAllByRole("button", { name: "Delete" });
  await user.click(buttons[buttons.length - 1] ?? document.body);
  expect(await screen.findByText("The Darkroom was deleted and created again. Reload the page to edit the new one.")).toBeTruthy();
  expect(writes).toHaveLength(1);
});
