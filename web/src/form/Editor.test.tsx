// @vitest-environment jsdom
import { forEachDiagnostic } from "@codemirror/lint";
import { EditorView } from "@codemirror/view";
import { act, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import userEvent, { type UserEvent } from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";
import { darkroom } from "../../test/darkrooms";
import { hasFocus } from "../../test/focus";
import { LiveContext } from "../live/useLive";
import { Store } from "../live/store";
import type { Darkroom, DarkroomInput, Key, Outcome } from "../api/types";
import { SettingsContext } from "../settings";
import { draftAgain } from "./drafts";
import { Editor } from "./Editor";
import FormView from "./FormView";
import { emptyInput, toInput } from "../model/model";

/** A server with one Darkroom, which other users may have changed. It accepts writes to the current version. */
let stored: Darkroom;
const nextVersion = () => ({ resourceVersion: String(Number(stored.resourceVersion) + 1), etag: `"${Number(stored.resourceVersion) + 1}"` });
let calls: { method: string; path: string; body: DarkroomInput | undefined; ifMatch: string | null }[];
/** The error with which the next write is rejected. */
let refusal: object | undefined;
/** The warnings of a dry run. */
let warning: string | undefined;
/** The outcome that reviews report. */
let outcome: Outcome;

const reply = (status: number, body: unknown) =>
  Promise.resolve(new Response(typeof body === "string" ? body : JSON.stringify(body), { status }));

beforeEach(() => {
  stored = darkroom();
  calls = [];
  refusal = undefined;
  warning = undefined;
  outcome = { hosts: [], secrets: [], pods: "roll" };
  vi.stubGlobal("fetch", (path: string, init: RequestInit = {}) => {
    const { method = "GET" } = init;
    const body = typeof init.body === "string" ? (JSON.parse(init.body) as DarkroomInput) : undefined;
    const ifMatch = new Headers(init.headers).get("If-Match");
    calls.push({ method, path, body, ifMatch });
    if (path === "/access/namespaces") {
      return reply(200, { create: ["default"], update: ["photos"] });
    }
    if (path.startsWith("/access")) {
      return reply(200, { create: true, update: true, delete: true, image: true, log: true, createSecret: true });
    }
    if (path.endsWith("/manifest")) {
      return reply(200, `replicas: ${stored.replicas ?? 1}\n`);
    }
    if (path.endsWith("/review")) {
      return reply(200, { manifest: `replicas: ${body?.replicas ?? 1}\n`, outcome });
    }
    if (method === "GET") {
      return reply(200, stored);
    }
    if (refusal) {
      return reply((refusal as { status: number }).status, refusal);
    }
    if (method === "PUT" && ifMatch !== "*" && ifMatch !== stored.etag) {
      return reply(412, { title: "Precondition Failed", status: 412, detail: "the version is stale" });
    }
    const next = { ...stored, ...body, ...nextVersion() } as Darkroom;
    if (!path.includes("dryRun")) {
      stored = next;
    }
    const headers = warning ? { Warning: `299 - "${warning}"` } : undefined;
    return Promise.resolve(new Response(JSON.stringify(next), { status: method === "POST" ? 201 : 200, headers }));
  });
});

function edit(store = new Store()) {
  const loaded = stored;
  render(
    <LiveContext value={store}>
      <Editor initial={toInput(loaded)} loaded={loaded} />
    </LiveContext>,
  );
  return userEvent.setup();
}

/** Opens a form at its address. */
const open = (edited?: Key) =>
  render(
    <LiveContext value={new Store()}>
      <FormView edited={edited} />
    </LiveContext>,
  );

/** Another user changes the Darkroom. */
const othersChange = (part: Partial<Darkroom>) => {
  stored = { ...stored, ...part, ...nextVersion() };
};

const button = (name: string | RegExp) => screen.getByRole("button", { name });
const field = (id: string): HTMLElement => {
  const found = document.getElementById(id);
  if (!found) {
    throw new Error(`there is no ${id}`);
  }
  return found;
};
/** Fills in a field at once, because each typed key renders the form. */
const fill = (id: string, value: string) => fireEvent.change(field(id), { target: { value } });
const writes = () => calls.filter(({ method, path }) => method !== "GET" && !path.endsWith("/review"));
/**
 * Requests that change the cluster. On a slow machine, the user input may pause between two lines of a test, and then a
 * dry run checks it.
 */
const saves = () => writes().filter(({ path }) => !path.includes("dryRun"));

test("what will change is shown before it is saved", async () => {
  const user = edit();
  await user.click(button("Number of pods: increase"));
  await user.click(button(/^Review/));
  const settings = await screen.findByRole("list", { name: "Changed settings" });
  expect(within(settings).getAllByRole("listitem").map((item) => item.textContent)).toEqual(["replicas 1 → 2"]);
  await user.click(button("1 object will be changed"));
  await user.click(button("Object will be changed"));
  const lines = screen.getByRole("region", { name: "Object, line by line" });
  expect(within(lines).getByText(/replicas: 1/)).toBeTruthy();
  expect(within(lines).getByText(/replicas: 2/)).toBeTruthy();
  expect(stored.replicas).toBe(1);
  await user.click(button("Save"));
  await waitFor(() => expect(location.pathname).toBe("/ui/photos/cats"));
  expect(stored.replicas).toBe(2);
});

test("the outcome is shown before it is saved, problems first", async () => {
  outcome = {
    hosts: [
      { host: "cats.example.com", state: "own" },
      { host: "pets.example.com", state: "taken", owner: "shop/pets" },
    ],
    secrets: [
      { name: "keys", field: "body.source.credentialsSecretRef", state: "missing", keys: [{ name: "accessKey", state: "missing" }] },
      { name: "tls", field: "body.ingress.tlsSecretName", state: "found", keys: [{ name: "tls.crt", state: "missing" }, { name: "tls.key", state: "found" }] },
      { name: "env", field: "body.extraEnvFrom[0].secretRef", state: "unknown", keys: [] },
    ],
    pods: "roll",
  };
  const user = edit();
  await user.click(button("Number of pods: increase"));
  await user.click(button(/^Review/));
  const list = await screen.findByRole("list", { name: "Outcome" });
  const lines = within(list).getAllByRole("listitem").map((item) => item.textContent);
  expect(lines).toEqual([
    expect.stringMatching(/^pets\.example\.com is taken.*shop\/pets holds it/),
    expect.stringMatching(/^The Secret keys does not exist.*accessKey/),
    expect.stringMatching(/^The Secret tls lacks keysAdd tls\.crt\./),
    expect.stringMatching(/^The Secret env was not checked/),
    expect.stringMatching(/^The pods will be replaced without downtime/),
  ]);
  expect(within(list).getAllByLabelText("Problem")).toHaveLength(3);
});

test("changes of others to other fields are included, and reported", async () => {
  const user = edit();
  await user.click(button("Number of pods: increase"));
  othersChange({ logLevel: "debug" });
  await user.click(button(/^Review/));
  await screen.findByText(/Their changes to logLevel are included/);
  await user.click(button(/^Review/));
  await user.click(await screen.findByRole("button", { name: "Save" }));
  await waitFor(() => expect(stored).toMatchObject({ replicas: 2, logLevel: "debug" }));
});

test.each([
  ["theirs", 5],
  ["yours", 2],
])("a clash is settled with %s", async (side, want) => {
  const user = edit();
  await user.click(button("Number of pods: increase"));
  othersChange({ replicas: 5 });
  await user.click(button(/^Review/));
  const choice = await screen.findByRole("radio", { name: new RegExp(`^replicas: ${side}`) });
  await hasFocus(() => screen.getByText("Another user changed the same fields", { exact: false }).closest("[tabindex]"));
  expect(screen.getByRole<HTMLInputElement>("radio", { name: /^replicas: yours/ }).checked).toBe(true);
  await user.click(choice);
  expect(field("field-replicas")).toHaveProperty("value", String(want));
  await user.click(button(/^Review/));
  await user.click(await screen.findByRole("button", { name: "Save" }));
  await waitFor(() => expect(location.pathname).toBe("/ui/photos/cats"));
  expect(stored.replicas).toBe(want);
});

test("unsaved changes of a settled conflict are kept on the version that it was settled with", async () => {
  const user = userEvent.setup();
  const { unmount } = open(stored);
  await user.click(await screen.findByRole("button", { name: "Number of pods: increase" }));
  othersChange({ replicas: 5 });
  await user.click(button(/^Review/));
  await screen.findByText("Another user changed the same fields", { exact: false });
  unmount();

  open(stored);
  expect((await screen.findByLabelText<HTMLInputElement>("Number of pods")).value).toBe("2");
  await user.click(button(/^Review/));
  await user.click(await screen.findByRole("button", { name: "Save" }));
  await waitFor(() => expect(stored.replicas).toBe(2));
});

test("errors of the server appear beside their field, until it changes", async () => {
  const user = edit();
  refusal = { title: "Unprocessable", status: 422, detail: "no", errors: [{ location: "body.version", message: "Invalid value: must be a version" }] };
  await user.type(screen.getByLabelText("Version"), "9");
  await user.click(button(/^Review/));
  const help = await waitFor(() => {
    const found = document.getElementById("field-version-help");
    expect(found?.textContent).toContain("Must be a version");
    return found;
  });
  await user.type(screen.getByLabelText("Version"), "z");
  expect(help?.textContent).not.toContain("Must be a version");
});

test("after a pause in typing, the form shows which hosts another Darkroom has, until they change", async () => {
  warning = "host cats.example.com is held by another Darkroom, which keeps it";
  const user = edit();
  await user.click(button("Number of pods: increase"));
  await screen.findByText("Host cats.example.com is held by another Darkroom, which keeps it");
  warning = undefined;
  await user.type(screen.getByRole("textbox", { name: "Sub-domain" }), "dogs{Enter}");
  expect(screen.queryByText(/is held by/)).toBeNull();
});

test("after a pause in typing, the server checks the input, and errors are shown where the user was", async () => {
  const user = edit();
  refusal = { title: "Unprocessable", status: 422, detail: "no", errors: [{ location: "body.probe.path", message: "must start with '/'" }, { location: "body.version", message: "must be a version" }] };
  fill("field-probe-path", "cat.jpg");
  fireEvent.blur(field("field-probe-path"));
  await waitFor(() => expect(field("field-probe-path-help").textContent).toContain("Must start with '/'"));
  expect(document.getElementById("field-version-help")?.textContent).not.toContain("Must be a version");
  expect(writes().map(({ path, ifMatch }) => `${path} ${ifMatch ?? ""}`)).toEqual(["/darkrooms/photos/cats?dryRun=All *"]);
  await user.click(button(/^Review/));
  await hasFocus(() => field("field-probe-path"));
  expect(writes()).toHaveLength(1);
  refusal = undefined;
  fill("field-probe-path", "/cat.jpg");
  expect(field("field-probe-path-help").textContent).not.toContain("Must start with '/'");
});

test("the form asks for an image to check with, and its times are under the other settings", async () => {
  const user = edit();
  expect(screen.queryByLabelText("Image check period (seconds)")).toBeNull();
  fill("field-probe-path", "/cat.jpg");
  expect(field("field-probe-periodSeconds")).toMatchObject({ min: "10", max: "86400", placeholder: "60" });
  fill("field-probe-periodSeconds", "30");
  await user.click(button(/^Review/));
  await screen.findByRole("button", { name: "Save" });
  expect(writes().at(-1)?.body?.probe).toEqual({ path: "/cat.jpg", periodSeconds: 30 });
});

test("the input for a type of source is restored with the type, without keys that a Secret replaced", async () => {
  const user = edit();
  const choose = (type: string) => user.click(screen.getByRole("radio", { name: type }));
  await choose("S3");
  fill("field-source-bucket", "goods");
  await choose("Inline keys");
  fill("field-source-accessKey", "a");
  await choose("Existing Secret");
  fill("field-source-credentialsSecretRef-name", "keys");
  await choose("Web folder");
  expect(field("field-source-baseUrl")).toHaveProperty("value", stored.source.baseUrl);
  await choose("S3");
  expect(field("field-source-bucket")).toHaveProperty("value", "goods");
  fill("field-source-region", "r");
  await user.click(button(/^Review/));
  await screen.findByRole("button", { name: "Save" });
  expect(writes().at(-1)?.body?.source).toEqual({ type: "S3", bucket: "goods", region: "r", credentialsSecretRef: { name: "keys" } });
});

test.each<[string, string[], object | undefined]>([
  ["a probe is removed with its path", [""], undefined],
  ["another path keeps the times of the probe", ["", "/dog.jpg"], { path: "/dog.jpg", periodSeconds: 30, timeoutSeconds: 10 }],
])("%s", async (_, paths, want) => {
  stored = darkroom({ probe: { path: "/cat.jpg", periodSeconds: 30, timeoutSeconds: 10 } });
  const user = edit();
  for (const path of paths) {
    fill("field-probe-path", path);
  }
  await user.click(button(/^Review/));
  await screen.findByRole("button", { name: "Save" });
  expect(writes().at(-1)?.body?.probe).toEqual(want);
});

/** Opens the YAML tab. */
async function openYaml(user: UserEvent): Promise<EditorView> {
  await user.click(screen.getByRole("tab", { name: "YAML" }));
  return yamlView();
}

/** The editor in the YAML tab, once it is shown. */
const yamlView = (): Promise<EditorView> =>
  waitFor(() => {
    const content = document.querySelector("#part-yaml .dr-yaml")?.shadowRoot?.querySelector<HTMLElement>("[aria-label=Resource]");
    const view = content && EditorView.findFromDOM(content);
    if (!view) {
      throw new Error("there is no editor");
    }
    return view;
  });

/** Replaces the text of the editor. */
const type = (view: EditorView, insert: string) => act(() => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert } }));

test("form and YAML are one input, and comments stay until the form changes", async () => {
  const user = edit();
  const view = await openYaml(user);
  type(view, "");
  expect(screen.getByRole("tab", { name: "Form" }).getAttribute("aria-disabled")).toBe("true");
  const text =
    "# ours\napiVersion: deployments.example.com/v1alpha1\nkind: Darkroom\nmetadata: {name: cats, namespace: photos}\nspec:\n  replicas: 4\n  source: {baseUrl: https://example.com}\n  # see the wiki\n  subDomains: [cats]\n";
  type(view, text);
  await user.click(screen.getByRole("tab", { name: "Form" }));
  expect(screen.getByLabelText<HTMLInputElement>("Number of pods").value).toBe("4");
  expect((await openYaml(user)).state.doc.toString()).toBe(text);
  await user.click(screen.getByRole("tab", { name: "Form" }));
  await user.click(button("Number of pods: increase"));
  expect((await openYaml(user)).state.doc.toString()).toContain("replicas: 5");
});

test("changes of another user reach the YAML that is being edited", async () => {
  const user = edit();
  const view = await openYaml(user);
  type(view, view.state.doc.toString().replace("replicas: 1", "replicas: 2"));
  othersChange({ logLevel: "debug" });
  await user.click(button(/^Review/));
  await screen.findByText(/Their changes to logLevel are included/);
  await waitFor(() => expect(view.state.doc.toString()).toContain("logLevel: debug"));
  expect(view.state.doc.toString()).toContain("replicas: 2");
});

test("after a pause in typing YAML, the server checks it, and its errors are at their lines", async () => {
  const user = edit();
  const view = await openYaml(user);
  refusal = { title: "Unprocessable", status: 422, detail: "no", errors: [{ location: "body.replicas", message: "must be a whole number" }] };
  type(view, view.state.doc.toString().replace("replicas: 1", "replicas: many"));
  await waitFor(() => {
    const found: string[] = [];
    forEachDiagnostic(view.state, ({ message }, from) => found.push(`${view.state.doc.lineAt(from).text.trim()}: ${message}`));
    expect(found).toEqual(["replicas: many: must be a whole number"]);
  });
});

test("unsaved changes are kept over navigation, without secrets, and restored on return", async () => {
  const user = userEvent.setup();
  const { unmount } = open();
  await waitFor(() => field("field-name"));
  fill("field-name", "dogs");
  await user.click(screen.getByRole("radio", { name: "S3" }));
  fill("field-source-bucket", "goods");
  await user.click(screen.getByRole("radio", { name: "Inline keys" }));
  fill("field-source-accessKey", "canary-access");
  fill("field-source-secretKey", "canary-secret");
  unmount();
  expect(JSON.stringify(Object.entries(sessionStorage))).toContain("goods");
  expect(JSON.stringify([sessionStorage, localStorage].map(Object.entries))).not.toContain("canary");

  open();
  expect(screen.getByText("Your unsaved changes were restored", { exact: false })).toBeTruthy();
  expect(screen.getByText("Secrets are never kept. Enter again: source.accessKey, source.secretKey.")).toBeTruthy();
  expect(field("field-source-bucket")).toHaveProperty("value", "goods");
  expect(field("field-source-accessKey")).toHaveProperty("value", "");
  fill("field-source-region", "r");
  await user.type(screen.getByLabelText("Sub-domain"), "dogs{Enter}");
  await user.click(button(/^Review/));
  expect((await screen.findAllByText(/Enter it again/)).length).toBeGreaterThan(0);
  expect(saves()).toEqual([]);
  fill("field-source-accessKey", "a");
  fill("field-source-secretKey", "s");
  await user.click(button(/^Review/));
  await screen.findByRole("heading", { name: /^Review the new Darkroom/ });
});

test("changes of a Darkroom are restored on the version that they began with, and can be discarded", async () => {
  const user = userEvent.setup();
  const { unmount } = open(stored);
  await user.click(await screen.findByRole("button", { name: "Number of pods: increase" }));
  unmount();
  othersChange({ logLevel: "debug" });
  open(stored);
  expect((await screen.findByLabelText<HTMLInputElement>("Number of pods")).value).toBe("2");
  await user.click(button(/^Review/));
  await screen.findByText(/Their changes to logLevel are included/);
  await user.click(button("Discard changes"));
  await waitFor(() => expect(screen.getByLabelText<HTMLInputElement>("Number of pods").value).toBe("1"));
  expect(sessionStorage.length).toBe(0);
});

test("what is saved or canceled leaves no draft", async () => {
  const user = edit();
  await user.click(button("Number of pods: increase"));
  expect(sessionStorage.length).toBe(1);
  await user.click(button("Cancel"));
  expect(sessionStorage.length).toBe(0);
});

test("typing a number is not corrected, and an empty one is not set", async () => {
  const user = edit();
  const pods = screen.getByLabelText<HTMLInputElement>("Number of pods");
  await user.clear(pods);
  expect(pods.value).toBe("");
  await user.type(pods, "2500");
  expect(pods.value).toBe("2500");
  await user.clear(pods);
  await user.tab();
  expect(pods.value).toBe("1");
});

test("keys are never sent to an endpoint that they were not entered for", async () => {
  stored = darkroom({ source: { type: "S3", bucket: "b", region: "r", endpoint: "https://a.example.com", credentials: "inline" } });
  const user = edit();
  expect(screen.getByRole<HTMLInputElement>("radio", { name: "Keep the current keys" }).checked).toBe(true);
  fill("field-source-endpoint", "https://evil.example.com");
  expect(screen.queryByRole("radio", { name: "Keep the current keys" })).toBeNull();
  await user.click(button(/^Review/));
  expect((await screen.findAllByText(/the endpoint has changed/)).length).toBeGreaterThan(0);
  await hasFocus(() => field("field-source-accessKey"));
  expect(saves()).toEqual([]);
});

test("keys that another user moved to an endpoint are not sent back to the one before", async () => {
  stored = darkroom({ source: { type: "S3", bucket: "b", region: "r", endpoint: "https://a.example.com", credentials: "inline" } });
  const user = edit();
  await user.click(button("Number of pods: increase"));
  othersChange({ source: { ...stored.source, endpoint: "https://b.example.com" } });
  await user.click(button(/^Review/));
  await screen.findByText(/Their changes to source.endpoint are included/);
  expect(screen.getByRole("radio", { name: "Keep the current keys" })).toBeTruthy();
  fill("field-source-endpoint", "https://a.example.com");
  expect(screen.queryByRole("radio", { name: "Keep the current keys" })).toBeNull();
});

test("a Darkroom that is deleted while it is edited cannot be saved, and the form shows this", async () => {
  const store = new Store();
  const event = (kind: string, data: unknown) => ({ event: kind, data: JSON.stringify(data), id: undefined });
  store.take(event("reset", {}));
  store.take(event("added", stored));
  store.take(event("synced", { items: 1, all: true }));
  const user = edit(store);
  await user.click(button("Number of pods: increase"));
  act(() => store.take(event("deleted", stored)));
  expect(screen.getByText("This Darkroom was deleted while you were editing", { exact: false })).toBeTruthy();
  expect(button(/^Review/)).toHaveProperty("disabled", true);
});

test("the error of a missing namespace names it", async () => {
  render(
    <LiveContext value={new Store()}>
      <Editor initial={{ ...emptyInput("nowhere"), name: "dogs", source: { type: "WebFolder", baseUrl: "https://example.com" }, subDomains: ["dogs"] }} />
    </LiveContext>,
  );
  refusal = { title: "Not Found", status: 404, detail: 'namespace "nowhere" not found' };
  await userEvent.click(button(/^Review/));
  await screen.findByText("Namespace not found", { exact: false });
});

test("in the YAML tab, errors lead to their lines", async () => {
  const user = edit();
  refusal = {
    title: "Unprocessable",
    status: 422,
    detail: "no",
    errors: [
      { location: "body.version", message: "must be a version" },
      { location: "body.podTemplate.nodeSelector", message: "must be labels" },
    ],
  };
  const view = await openYaml(user);
  type(
    view,
    "apiVersion: deployments.example.com/v1alpha1\nkind: Darkroom\nmetadata: {name: cats, namespace: photos}\nspec:\n  version: \"9\"\n  podTemplate:\n    nodeSelector: {disk: ssd}\n  source: {baseUrl: https://example.com}\n  subDomains: [cats]\n",
  );
  await user.click(button(/^Review/));
  await user.click(await screen.findByRole("button", { name: "podTemplate.nodeSelector" }));
  const selected = () => view.state.sliceDoc(view.state.selection.main.from, view.state.selection.main.to).trim();
  await waitFor(() => expect(selected()).toBe("{disk: ssd}"));
  const found: string[] = [];
  forEachDiagnostic(view.state, ({ message }, from) => found.push(`line ${view.state.doc.lineAt(from).number}: ${message}`));
  expect(found.toSorted()).toEqual(["line 5: must be a version", "line 7: must be labels"]);
  await user.click(screen.getByRole("button", { name: "version" }));
  await waitFor(() => expect(selected()).toBe('"9"'));
  expect(screen.getByRole("tab", { name: "YAML" }).getAttribute("aria-selected")).toBe("true");
});

test("a link to a field that only the YAML contains selects it there", async () => {
  stored = darkroom({ gate: {}, additionalSources: [{ name: "old", fallback: true, type: "CloudFront", host: "d1.cloudfront.net" }] });
  history.replaceState(null, "", "/?field=additionalSources.0.host");
  edit();
  const view = await yamlView();
  await waitFor(() => expect(view.state.sliceDoc(view.state.selection.main.from, view.state.selection.main.to)).toBe("d1.cloudfront.net"));
  history.replaceState(null, "", "/");
});

test("three questions lead to a new Darkroom; the rest is folded, and its name is its host", async () => {
  render(
    <SettingsContext value={{ cluster: "", baseDomain: "darkroom.example.com", darkroomVersion: "v1", namespaces: [], version: "" }}>
      <LiveContext value={new Store()}>
        <Editor initial={emptyInput("photos")} />
      </LiveContext>
    </SettingsContext>,
  );
  expect(screen.getAllByRole("textbox").map((input) => input.getAttribute("id"))).toEqual(["field-source-baseUrl", "field-probe-path", "field-name"]);
  fill("field-source-baseUrl", "https://example.com");
  fill("field-probe-path", "/cat.jpg");
  fill("field-name", "dogs");
  expect(field("field-name-help").textContent).toBe("In the namespace photos, at dogs.darkroom.example.com");
  await userEvent.click(button(/^Review/));
  await screen.findByRole("heading", { name: /^Review the new Darkroom/ });
  expect(writes().at(-1)?.body).toMatchObject({ name: "dogs", subDomains: ["dogs"], probe: { path: "/cat.jpg" } });
});

test("after a pause in typing, the form shows that its name is in use, and the review leads to the other Darkroom", async () => {
  render(
    <LiveContext value={new Store()}>
      <Editor initial={{ ...emptyInput("photos"), source: { type: "WebFolder", baseUrl: "https://example.com" } }} />
    </LiveContext>,
  );
  refusal = { title: "Conflict", status: 409, detail: "it already exists" };
  fill("field-name", "cats");
  fireEvent.blur(field("field-name"));
  await waitFor(() => expect(field("field-name-help").textContent).toContain("Already in use in this namespace"));
  await userEvent.click(button(/^Review/));
  expect((await screen.findByRole("link", { name: "Open the existing Darkroom" })).getAttribute("href")).toBe("/ui/photos/cats");
  refusal = undefined;
  fill("field-name", "dogs");
  expect(field("field-name-help").textContent).not.toContain("Already in use");
});

test("an error in a folded setting unfolds it", async () => {
  render(
    <LiveContext value={new Store()}>
      <Editor initial={{ ...emptyInput("photos"), name: "dogs", source: { type: "WebFolder", baseUrl: "https://example.com" }, subDomains: ["dogs"], replicas: 2500 }} />
    </LiveContext>,
  );
  expect(button("More settings").getAttribute("aria-expanded")).toBe("false");
  refusal = { title: "Unprocessable", status: 422, detail: "no", errors: [{ location: "body.replicas", message: "must be at most 1000" }] };
  await userEvent.click(button(/^Review/));
  await waitFor(() => expect(button("More settings").getAttribute("aria-expanded")).toBe("true"));
  await userEvent.click(screen.getByRole("button", { name: "replicas" }));
  await hasFocus(() => field("field-replicas"));
});

test("the form asks for secrets that a draft lacks, as long as there is a field for them", async () => {
  draftAgain(
    darkroom({
      source: { type: "S3", bucket: "b", region: "r", credentials: "inline" },
      additionalSources: [{ name: "old", type: "S3", bucket: "o", region: "r", fallback: true, credentials: "inline" }],
    }),
  );
  const user = userEvent.setup();
  open();
  await screen.findByText(/Secrets are never kept/);
  await user.click(button(/^Review/));
  const asked = () => Array.from(document.querySelectorAll("li"), ({ textContent }) => /^(\S+): Enter it again/.exec(textContent)?.[1]);
  const radios = (group: string) => Array.from(document.querySelectorAll(`input[type=radio][name=${group}]`), ({ id }) => id);
  const ways = [...radios("source"), "source-S3", ...radios("credentials")];
  expect(ways.length).toBeGreaterThan(6);
  for (const way of ways) {
    await user.click(field(way));
    for (const key of ["accessKey", "secretKey"]) {
      expect(asked().includes(`source.${key}`), `${key} with ${way}`).toBe(document.getElementById(`field-source-${key}`) !== null);
    }
  }
  await user.click(button("additionalSources.0.accessKey"));
  expect(screen.getByRole("tab", { name: "YAML" }).getAttribute("aria-selected")).toBe("true");
});

test.each(["Form", "YAML"])("what is typed while a Secret is created stays, even if the response finds the tab %s", async (tab) => {
  stored = darkroom({ source: { type: "S3", bucket: "b", region: "r" } });
  let answer: (response: Response) => void = () => undefined;
  const answered = new Promise<Response>((resolve) => (answer = resolve));
  const others = fetch;
  vi.stubGlobal("fetch", (path: string, init?: RequestInit) => (path === "/secrets" ? answered : others(path, init)));
  const user = edit();
  await user.click(screen.getByRole("radio", { name: /^Inline keys/ }));
  fill("field-source-accessKey", "a");
  fill("field-source-secretKey", "s");
  await user.click(await screen.findByRole("button", { name: "Create a Secret from these keys" }));
  // The keys are moved to the Secret.
  const inputs = () => Array.from(document.querySelectorAll<HTMLInputElement>("input[type=text], input[type=url]")).filter(({ id, disabled }) => id.startsWith("field-") && !disabled && !/Key$|SecretRef|subDomains/.test(id));
  const typed = inputs().map(({ id }, i): [string, string] => [id, `typed-${i}`]);
  expect(typed.length).toBeGreaterThan(8);
  typed.forEach(([id, text]) => fill(id, text));
  await user.click(screen.getByRole("tab", { name: tab }));
  await act(() => {
    answer(new Response("{}", { status: 201 }));
    return answered;
  });
  await user.click(screen.getByRole("tab", { name: "Form" }));
  await screen.findByText("The Secret cats-s3 was created");
  expect(inputs().map(({ id, value }) => [id, value])).toEqual(typed);
});

test("a choice that is taken back restores the input", async () => {
  stored = darkroom({ source: { type: "S3", bucket: "b", region: "r", credentialsSecretRef: { name: "k" } }, autoscaling: { maxReplicas: 4 }, gate: {}, probe: { path: "/cat.jpg" } });
  const user = edit();
  await user.click(button("Use other entries of the Secret"));
  const inputs = () => Array.from(document.querySelectorAll<HTMLInputElement>("input.pf-v6-c-form-control__input, .pf-v6-c-form-control > input")).filter(({ id, disabled }) => id.startsWith("field-") && !disabled);
  const values = () => inputs().map(({ id, value }) => [id, value]);
  inputs().forEach(({ id, type }, i) => fill(id, type === "number" ? String(i + 1) : `/typed-${i}`));
  const typed = values();
  expect(typed.length).toBeGreaterThan(20);
  const choices = Array.from(document.querySelectorAll<HTMLInputElement>("input[type=radio]"), ({ id, name }) => ({ id, name }));
  const chosen = (name: string) => document.querySelector<HTMLInputElement>(`input[type=radio][name=${name}]:checked`)?.id ?? "";
  for (const { id, name } of choices.filter(({ id, name }) => id !== chosen(name))) {
    const before = chosen(name);
    await user.click(field(id));
    await user.click(field(before));
    if (document.getElementById("field-source-credentialsSecretRef-accessKeyKey") === null) {
      await user.click(button("Use other entries of the Secret"));
    }
    expect(values(), `after ${id}`).toEqual(typed);
  }
});

test("one of several base domains is chosen, and the hosts are below it", async () => {
  render(
    <SettingsContext value={{ cluster: "", baseDomain: "{namespace}.example.com", baseDomains: ["{namespace}.example.com", "img.example.org"], darkroomVersion: "v1", namespaces: [], version: "" }}>
      <LiveContext value={new Store()}>
        <Editor initial={{ ...emptyInput("photos"), subDomains: ["cats"] }} />
      </LiveContext>
    </SettingsContext>,
  );
  const user = userEvent.setup();
  await user.click(screen.getByRole("button", { name: "More settings" }));
  expect(screen.getByText("Images are served at SUB-DOMAIN.photos.example.com")).toBeTruthy();
  const select = screen.getByLabelText("Base domain");
  expect(within(select).getAllByRole("option").map((option) => option.textContent)).toEqual([
    "photos.example.com (default)", "photos.example.com", "img.example.org",
  ]);
  await user.selectOptions(select, "img.example.org");
  expect(screen.getByText("Images are served at SUB-DOMAIN.img.example.org")).toBeTruthy();
});

test("where the operator offers one base domain, the form does not ask for it", () => {
  edit();
  expect(screen.queryByLabelText("Base domain")).toBeNull();
});
