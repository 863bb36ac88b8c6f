// @vitest-environment jsdom
import { openLintPanel } from "@codemirror/lint";
import { openSearchPanel } from "@codemirror/search";
import { EditorView } from "@codemirror/view";
import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { darkroom } from "../../test/darkrooms";
import { speakPseudo, untranslatedIn } from "../../test/pseudo";
import { Problem, unreachable } from "../api/problem";
import type { Condition, Darkroom, Outcome } from "../api/types";
import { App } from "../App";
import { Conditions } from "../detail/Conditions";
import { diffLines } from "../diff/diff";
import { Conflict } from "../form/Conflict";
import { Review } from "../form/Review";
import type { ConflictState } from "../form/useSaving";
import { MissingRight } from "../layout/MissingRight";
import { ProblemState } from "../layout/ProblemState";
import SignIn from "../layout/SignIn";
import SignInDialog from "../layout/SignInDialog";
import { ChosenFilters } from "../list/ChosenFilters";
import { ListView } from "../list/ListView";
import { Pages } from "../list/Pages";
import { parseQuery } from "../list/query";
import { Store } from "../live/store";
import { LiveContext } from "../live/useLive";
import { meanings } from "../words/conditions";
import { speak } from "../words/locale";
import { PhaseLabel, phaseNames } from "../words/phases";
import { describeReason, reasonWords, separate } from "../words/reasons";
import { t } from "../words/t";
import english from "./en.json";
// Views that App loads when they are opened: loaded here, so that no test waits for it.
import "../actions/BulkDialog";
import "../detail/DetailView";
import "../detail/History";
import "../detail/PodDialog";
import "../detail/YamlText";
import "../form/FormView";
import "../form/YamlEditor";
import "../list/HostsView";
import "../shortcuts/ShortcutsDialog";

/**
 * What stays as it is: names and values of Kubernetes and of Darkroom, and examples of values in empty fields. Data and
 * texts of the server are Greek in this test, and so need no place here.
 */
const verbatim = new RegExp(
  [
    /SUB-DOMAIN|PNG/,
    // Conditions, fields, rights and options.
    new RegExp(`\\b(?:${Object.keys(meanings).flatMap((type) => [type, separate(type)]).join("|")})\\b`),
    /\b(?:name|namespace|source\.\w+|probe\.\w+|subDomains|replicas|accessKey|secretKey|tls\.crt|tls\.key)\b/,
    /\b(?:list and get secrets|list pods|list events|get pods\/log|list secrets|create secrets|get services\/proxy)\b/,
    /SingleStack|PreferDualStack|RequireDualStack|\b(?:debug|info|warn|error|fatal|panic)\b/,
    // Examples.
    /^(?:photos|\/photos\/cat\.jpg|\/images\/cat\.jpg|\/uploads|gojektech\/darkroom|100m|128Mi|2Gi|31536000|60|10|3|75|eu-west-2)$/,
    /^https:\/\/(?:example\.com\/images|minio\.example\.com:9000)$|^d111111abcdef8\.cloudfront\.net$/,
    /^(?:credentials\.json|\{"type": "service_account", …\})$/,
    /https?:\/\//,
  ]
    .map(({ source }) => source)
    .join("|"),
  "g",
);

const condition = (type: string, status: string, reason: string): Condition => ({ type, status, reason, message: "μήνυμα", lastTransitionTime: "2026-01-02T00:00:00Z" });
const place = { namespace: "εικόνες", source: { type: "WebFolder", baseUrl: "https://πηγή" } } as const;
const status = { phase: "Ready", domains: ["γάτες.παράδειγμα"], version: "έκδοση", replicas: 1, readyReplicas: 1 };

const all: Darkroom[] = [
  darkroom({
    ...place,
    name: "γάτες",
    subDomains: ["γάτες"],
    probe: { path: "/γάτα" },
    labels: { ομάδα: "ιστός" },
    autoscaling: { minReplicas: 1, maxReplicas: 3 },
    status: { ...status, url: "https://γάτες.παράδειγμα", conditions: [condition("Ready", "True", "AllReplicasReady"), condition("SourceReady", "False", "ImageNotFound")] },
  }),
  darkroom({
    ...place,
    name: "σκύλοι",
    subDomains: ["σκύλοι", "γάτες"],
    status: { ...status, phase: "Degraded", domains: ["α", "β", "γ"], conditions: [condition("Ready", "False", "DomainConflict")] },
  }),
  darkroom({ ...place, name: "πουλιά", source: { type: "S3", bucket: "κουβάς" }, probe: { path: "/πουλί" }, status: { ...status, phase: "Deploying", domains: [], readyReplicas: 0 } }),
  darkroom({ ...place, name: "ψάρια", subDomains: ["ψάρια"], probe: { path: "/ψάρι" }, status: { ...status, conditions: [condition("SourceReady", "True", "ImageServed")] } }),
];

const pod = { name: "γάτες-α", phase: "Pending", ready: false, restarts: 2, reason: "ΚακήΕικόνα", message: "μήνυμα", node: "κόμβος", ip: "διεύθυνση", startedAt: "2026-01-01T00:00:00Z" };
const event = { type: "Warning", reason: "Repaired", message: "μήνυμα", count: 3, lastSeen: "2026-01-01T00:00:00Z" };
const revision = { revision: 2, status: "superseded", createdAt: "2026-01-01T00:00:00Z", secretsDiffer: true, settings: { ...place, subDomains: ["γάτες"], replicas: 4 } };
const outcome = {
  hosts: [
    { host: "γάτες.παράδειγμα", state: "taken", owner: "εικόνες/σκύλοι" },
    { host: "α", state: "free" },
  ],
  secrets: [{ field: "source.credentialsSecretRef", name: "μυστικό", state: "missing", keys: [{ name: "κλειδί", state: "missing" }] }],
  pods: "roll",
} satisfies Outcome;
const conflict: ConflictState = {
  clashes: [{ path: ["replicas"], base: "α", theirs: undefined, mine: "β" }],
  taken: [["source", "bucket"], ["subDomains"]],
  input: { name: "γάτες", namespace: "εικόνες", source: {}, subDomains: [] },
  theirs: darkroom(),
};

/** The answers of the server, by the ends of paths. */
const answers: [path: RegExp, body: unknown][] = [
  [/^\/session$/, { username: "αλίκη", groups: [], auth: "token" }],
  [/^\/settings$/, { cluster: "συστοιχία", baseDomain: "παράδειγμα", darkroomVersion: "έκδοση", namespaces: ["εικόνες"], version: "έκδοση" }],
  [/^\/sign-in$/, { cluster: "συστοιχία", issuer: "εκδότης" }],
  [/^\/access/, { create: true, update: true, delete: true, image: true, log: true, listSecrets: true, createSecret: true }],
  [/^\/secrets/, { items: [{ name: "μυστικό", keys: ["κλειδί"] }], truncated: true }],
  [/\/pods$/, { items: [pod] }],
  [/\/events$/, { items: [event] }],
  [/\/revisions$/, { items: [revision, { ...revision, revision: 1, settings: undefined }] }],
  [/\/log$/, "2026 a line\n"],
  [/\/manifest$/, "replicas: 1\n"],
  [/\/review$/, { manifest: "replicas: 2\n", outcome }],
];

/** Live events with the Darkrooms, until the page leaves. */
const stream = (signal: AbortSignal | null | undefined) =>
  new ReadableStream({
    start: (out) => {
      const events: [string, unknown][] = [["reset", {}], ...all.map((one): [string, unknown] => ["added", one]), ["synced", { items: all.length, all: true }]];
      out.enqueue(new TextEncoder().encode(events.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join("")));
      signal?.addEventListener("abort", () => out.close());
    },
  });

function answer(address: string, init: RequestInit): Response {
  const path = address.replace(/\?.*/, "");
  const json = (body: unknown, code = 200) => new Response(typeof body === "string" ? body : JSON.stringify(body), { status: code });
  if (path === "/events/stream") {
    return new Response(stream(init.signal));
  }
  const found = answers.find(([pattern]) => pattern.test(path));
  if (found) {
    return json(found[1]);
  }
  if (path.endsWith("/image")) {
    return new Response("image", { headers: { "Content-Type": "image/png" } });
  }
  const stored = all.find(({ name }) => decodeURIComponent(path).endsWith(`/${name}`));
  return stored || init.method === "POST" ? json(stored ?? all[0]) : json({ title: "Not Found", status: 404, detail: "μήνυμα" }, 404);
}

/** Reports elements as visible as soon as they are observed. */
class SeenAtOnce {
  disconnect = vi.fn();
  constructor(private readonly report: (entries: { isIntersecting: boolean }[]) => void) {}
  observe(): void {
    this.report([{ isIntersecting: true }]);
  }
}

beforeEach(() => {
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }));
  vi.stubGlobal("IntersectionObserver", SeenAtOnce);
  vi.stubGlobal("fetch", (address: string, init: RequestInit = {}) => Promise.resolve(answer(address, init)));
  vi.spyOn(URL, "createObjectURL").mockReturnValue("blob:image");
  vi.spyOn(URL, "revokeObjectURL").mockReturnValue(undefined);
  speakPseudo(english);
});

afterEach(() => {
  // Before English returns: an unmounted view shows nothing more.
  cleanup();
  speak();
});

/** Opens a view, and waits until nothing is loading. */
async function open(path: string): Promise<void> {
  history.replaceState(null, "", path);
  render(<App />);
  await settled();
}

const settled = () =>
  waitFor(() => {
    expect(document.querySelector("h1")).not.toBeNull();
    expect(document.querySelector(".pf-v6-c-spinner, .pf-v6-c-skeleton, [aria-busy]")).toBeNull();
  });

/** What is done in a view before its texts are checked. */
type Act = () => Promise<unknown>;

/** The address of a Darkroom, or of a part of it. */
const detail = (name: string, tab?: string): string => `/ui/${encodeURIComponent(place.namespace)}/${encodeURIComponent(name)}${tab ? `?tab=${tab}` : ""}`;

/** Clicks a button, or another element, by its text or label. Queries by role would take most of the time of this test. */
const press =
  (name: () => string, elements = "button"): Act =>
  async () =>
    fireEvent.click(
      await waitFor(
        () =>
          [...document.querySelectorAll(elements)].find((element) => (element.getAttribute("aria-label") ?? element.textContent).trim() === name()) ??
          expect.fail(`nothing to press: ${name()}`),
      ),
    );

/** Opens the menu of actions, and chooses one. */
function choose(item: () => string): Act {
  return async () => {
    await press(() => t("Actions"))();
    await press(item, "[role=menuitem]")();
  };
}

const change = (id: string, value: string) => fireEvent.change(document.getElementById(id) ?? document.body, { target: { value } });

/** Names are translated when they are used: the language is set after this list is made. */
const views: [what: string, path: string, sees: () => string, act?: Act][] = [
  ["the list", "/", () => t("{age} ago in {duration}", { age: "", duration: "" }).trim()],
  ["the list with filters", "/?phase=Ready&source=WebFolder&reason=DomainConflict&q=α", () => t("No matching Darkrooms")],
  ["a menu of filters", "/", () => t("Label"), press(() => t("Label"))],
  ["the menu of the user", "/", () => t("Sign out"), press(() => t("Signed in as {user}", { user: "αλίκη" }))],
  ["the menu of themes", "/", () => t("Dark"), press(() => t("Theme: {theme}", { theme: t("System") }))],
  ["the keyboard shortcuts", "/", () => t("Close a dialog or a menu"), () => Promise.resolve(fireEvent.keyDown(document.body, { key: "?" }))],
  ["an action on several Darkrooms", "/", () => t("Pause"), choose(() => t("Pause reconciliation"))],
  ["a page that does not exist", "/ui/α/β/γ/δ", () => t("Page not found")],
  ["a Darkroom that does not exist", "/ui/α/β", () => t("Not found")],
  ["the hosts", "/ui/hosts", () => t("Conflict")],
  ["a Darkroom", detail("γάτες"), () => t("Images are not served")],
  ["a Darkroom that is not ready", detail("πουλιά"), () => t("Progress")],
  ["the log of a pod", detail("γάτες"), () => t("Follow"), press(() => t("Log and events of {pod}", { pod: pod.name }))],
  ["the playground", detail("γάτες", "playground"), () => t("{size} B", { size: 5 }), press(() => t("Fetch"))],
  ["the events", detail("γάτες", "events"), () => t("Repaired")],
  ["the history", detail("γάτες", "history"), () => t("Superseded")],
  ["a roll-back", detail("γάτες", "history"), () => t("The same with kubectl"), press(() => t("Roll back to revision {revision}", { revision: 2 }))],
  ["the YAML", detail("γάτες", "yaml"), () => t("Keys and literal values of environment variables are never shown.")],
  ["the manifest", detail("γάτες", "manifest"), () => t("Secrets are shown as REDACTED.")],
  ["the actions", detail("γάτες"), () => t("Clone"), press(() => t("Actions"))],
  ["scaling", detail("σκύλοι"), () => t("Sets the number of pods."), choose(() => t("Scale"))],
  ["a deletion", detail("γάτες"), () => t("The same with kubectl"), press(() => t("Delete"))],
  ["the form", "/ui/create", () => t("Deployment")],
  ["the form with errors", "/ui/create", () => t("Enter a bucket"), invalidForm],
  ["the form for a copy", "/ui/create?from=εικόνες/γάτες", () => t("Copied from {name}", { name: "εικόνες/γάτες" })],
  ["the form with a Secret", detail("πουλιά") + "/edit", () => t("Use other entries of the Secret"), press(() => t("Existing Secret"), "label")],
  ["the form with inline keys", detail("πουλιά") + "/edit", () => t("Access key"), press(() => t("Inline keys"), "label")],
  ["the form in YAML", "/ui/create", () => t("Invalid YAML"), searchInYaml],
];

/** Everything that a form for a bucket lacks, and all its fields. */
async function invalidForm(): Promise<void> {
  await press(() => t("Google Cloud Storage"), "label")();
  await press(() => t("New Secret"), "label")();
  await press(() => t("Advanced"))();
  change("field-probe-path", "γάτα");
  change("field-name", "γάτες");
  await press(() => t("Review changes"))();
}

/** YAML with errors, with the search and the list of errors of the editor. */
async function searchInYaml(): Promise<void> {
  await press(() => t("YAML"), "[role=tab]")();
  const editor = await waitFor(() => {
    const content = document.querySelector(".dr-yaml")?.shadowRoot?.querySelector<HTMLElement>(".cm-content");
    return EditorView.findFromDOM(content ?? document.body) ?? expect.fail("no editor");
  });
  act(() => {
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: "a: [" } });
    openSearchPanel(editor);
    openLintPanel(editor);
  });
}

test.each(views)("every text of %s is translated", async (_, path, sees, done) => {
  await open(path);
  await done?.();
  expect((await screen.findAllByText(sees(), { exact: false })).length).toBeGreaterThan(0);
  await settled();
  expect(untranslatedIn(document, verbatim)).toEqual([]);
  expect(document.title.replace(verbatim, "")).not.toMatch(/[A-Za-z0-9]/);
});

const problem = (status: number) => new Problem(status, "τίτλος", "μήνυμα");

/** A live store in some state. */
function storeIn(state: (store: Store) => void): Store {
  const store = new Store();
  store.take({ event: "reset", data: "{}", id: undefined });
  state(store);
  return store;
}

const synced = (all: boolean) => storeIn((store) => store.take({ event: "synced", data: JSON.stringify({ items: 0, all }), id: undefined }));
const list = (store: Store) => (
  <LiveContext value={store}>
    <ListView />
  </LiveContext>
);
const nothing = () => undefined;

test.each<[string, () => ReactNode]>([
  ["a list without Darkrooms", () => list(synced(true))],
  ["a list without visible Darkrooms", () => list(synced(false))],
  ["a list that is loading", () => list(new Store())],
  ["a list without a connection", () => list(storeIn((store) => store.connect("lost")))],
  ["a refused list", () => list(storeIn((store) => store.connect("refused", problem(403))))],
  ["pages of a list", () => <Pages query={parseQuery("")} page={2} found={120} onChange={nothing} />],
  ["chosen filters", () => <ChosenFilters query={parseQuery("?phase=Ready&phase=Failed&phase=Idle&phase=Paused&reason=Invalid")} onChange={nothing} />],
  ["a missing right", () => <MissingRight to="logs" namespace="εικόνες" />],
  ["a server that is not reached", () => <ProblemState problem={unreachable()} onRetry={nothing} />],
  ["a review", () => <Review reviewed={{ outcome, manifests: diffLines("α\nβ\n", "α\nγ\n") }} isNew busy={false} problem={problem(403)} onSave={nothing} onBack={nothing} />],
  ["a conflict", () => <Conflict conflict={conflict} onResolve={nothing} onReload={nothing} onCancel={nothing} />],
  ["all conditions", () => <Conditions conditions={Object.keys(meanings).flatMap((type) => ["True", "False", "Unknown"].map((status) => condition(type, status, "")))} />],
  ["all phases", () => phaseNames.map((phase) => <PhaseLabel key={phase} phase={phase} />)],
  ["all reasons", () => Object.keys(reasonWords).map((reason) => <p key={reason}>{describeReason(reason)}</p>)],
])("every text of %s is translated", (_, view) => {
  render(<>{view()}</>);
  expect(document.body.textContent).not.toBe("");
  expect(untranslatedIn(document, verbatim)).toEqual([]);
});

test.each<[string, () => ReactNode]>([
  ["the view to sign in", () => <SignIn expired onSignedIn={() => Promise.resolve()} />],
  ["the dialog to sign in", () => <SignInDialog onSignedIn={() => Promise.resolve()} onLeave={nothing} />],
])("every text of %s is translated", async (_, view) => {
  history.replaceState(null, "", "/?signIn=expired");
  render(<>{view()}</>);
  await screen.findByText(t("Sign in with {issuer}", { issuer: "εκδότης" }));
  expect(untranslatedIn(document, verbatim)).toEqual([]);
});

test("a text outside the catalogue is found, wherever it is", () => {
  render(
    <p title="Title">
      Text <input aria-label="Label" placeholder="Hint" /> <code>code</code>
    </p>,
  );
  expect(untranslatedIn(document.body, verbatim)).toEqual(["p title: Title", "p: Text", "input aria-label: Label", "input placeholder: Hint"]);
});
