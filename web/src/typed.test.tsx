// @vitest-environment jsdom
import { act, configure, fireEvent, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";
import { darkroom } from "../test/darkrooms";
import { hasFocus } from "../test/focus";
import { reads } from "./api/reads";
import type { Darkroom, SourceInput } from "./api/types";
import { App } from "./App";
import "./actions/RotateDialog";
import "./detail/DetailView";
import "./detail/PodDialog";
import "./explain/ExplainView";
import "./form/FormView";
import "./layout/SignIn";
import "./layout/SignInDialog";
import { navigate } from "./router";

// Whether an element is hidden depends on the styles of all elements around it, which takes most of the time.
configure({ defaultHidden: true });
// Repeated reads wait two seconds each.
reads.setDefaultOptions({ queries: { ...reads.getDefaultOptions().queries, retryDelay: 0 } });

/** How a request fails: a status, no response at all, or a response that is not from the API. */
type Fault = number | "none" | "html" | "empty";
/** The fault of a request; undefined for one that succeeds. */
let faultOf: (method: string, path: string) => Fault | undefined;
/** Requests that failed: a fault that affects no request tests nothing. */
let failed: string[];
let stored: Darkroom;

const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });

function answer(fault: Fault): Promise<Response> {
  switch (fault) {
    case "none":
      return Promise.reject(new TypeError("Failed to fetch"));
    case "html":
      return Promise.resolve(new Response("<html>Bad Gateway</html>", { status: 502 }));
    case "empty":
      return Promise.resolve(new Response("", { status: 200 }));
    default:
      return Promise.resolve(json({ title: "Failed", status: fault, detail: `the server responded with ${fault}` }, fault));
  }
}

function stream(events: readonly (readonly [string, unknown])[], signal: AbortSignal | null | undefined): Response {
  const body = new ReadableStream<Uint8Array>({
    start: (out) => {
      out.enqueue(new TextEncoder().encode(events.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join("")));
      signal?.addEventListener("abort", () => out.error(new DOMException("over", "AbortError")));
    },
  });
  return new Response(body);
}

beforeEach(() => {
  faultOf = () => undefined;
  failed = [];
  stored = darkroom();
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }));
  vi.stubGlobal("fetch", (target: string, { method = "GET", signal }: RequestInit = {}) => {
    const path = target.replace(/\?.*/, "");
    const fault = faultOf(method, path);
    if (fault !== undefined) {
      failed.push(`${method} ${path}`);
      return answer(fault);
    }
    if (path === "/events/stream") {
      return Promise.resolve(stream([["reset", {}], ["added", stored], ["synced", { items: 1, all: true }]], signal));
    }
    if (path.endsWith("/log")) {
      return Promise.resolve(stream([["line", "GET /cat.jpg"]], signal));
    }
    const known: Record<string, unknown> = {
      session: { username: "alice", groups: [], auth: "token" },
      settings: { cluster: "production", baseDomain: "example.com", darkroomVersion: "v1", namespaces: [], version: "v1" },
      namespaces: { create: ["photos"], update: ["photos"] },
      access: { create: true, update: true, delete: true, image: true, log: true, createSecret: true },
      pods: { items: [{ name: "cats-1", phase: "Running", ready: true, restarts: 0 }] },
      events: { items: [] },
      revisions: { items: [] },
      manifest: "",
      review: { manifest: "", outcome: { hosts: [], secrets: [], pods: "keep" } },
      explain: { url: "https://cats.example.com/typed.jpg", verdict: "Served", hops: [] },
      figures: { at: "2026-01-01T00:00:00Z", pods: 0, gates: [] },
    };
    const name = path.split("/").pop() ?? "";
    return Promise.resolve(json(Object.hasOwn(known, name) ? known[name] : stored));
  });
});

const click = async (name: string | RegExp, role = "button") => userEvent.click(await screen.findByRole(role, { name }));
const s3: SourceInput = { type: "S3", bucket: "b", region: "r", credentialsSecretRef: { name: "cats-s3" } };
const keyFile = '{"type": "service_account"}';

interface Case {
  at: string;
  source?: SourceInput & { credentials?: "secretRef" };
  /** Opens it. */
  open?: () => Promise<void>;
  /** The typed input, by label. */
  typed: Record<string, string>;
  /** Sends it. */
  send: () => Promise<void>;
  /** Faults that have no effect. */
  succeedsWith?: Fault[];
}

const menu = (entry: string) => async () => {
  await click("Actions");
  await click(entry, "menuitem");
};
/** Requests another image with each call. */
let degrees = 0;
const turn = () => Promise.resolve(void fireEvent.change(document.getElementById("image-rot") ?? document.body, { target: { value: String(++degrees) } }));
const review = () => click(/^Review/);

/** Everything that can be typed and sent. */
const forms: Record<string, Case> = {
  "form/FormFields, form/SourceFields, form/fields": { at: "/ui/create", typed: { "Base URL": "https://example.com/typed", Name: "typed-name" }, send: review },
  "form/Credentials": { at: "/ui/photos/cats/edit", source: s3, open: () => click(/^Inline keys/, "radio"), typed: { "Access key": "typed-access", "Secret key": "typed-secret" }, send: review },
  "form/NewSecret": { at: "/ui/photos/cats/edit", source: s3, open: () => click(/^Inline keys/, "radio"), typed: { "Access key": "typed-access", "Secret key": "typed-secret", "Name of the new Secret": "typed-name" }, send: () => click("Create a Secret from these keys") },
  "form/NewSecret with a service account key": {
    at: "/ui/photos/cats/edit",
    source: { type: "GoogleCloudStorage", bucket: "b" },
    open: () => click(/^New Secret/, "radio"),
    typed: { "Service account key": keyFile, "Name of the new Secret": "typed-name" },
    send: () => click("Create the Secret"),
  },
  "actions/ActionDialog": { at: "/ui/photos/cats", open: menu("Scale"), typed: { "Number of pods": "17" }, send: () => click("Scale") },
  "actions/RotateDialog": { at: "/ui/photos/cats", source: { ...s3, credentials: "secretRef" }, open: menu("Rotate keys"), typed: { "Access key": "typed-access", "Secret key": "typed-secret", "Name of the new Secret": "typed-name" }, send: () => click("Rotate") },
  "actions/RotateDialog with a service account key": {
    at: "/ui/photos/cats",
    source: { type: "GoogleCloudStorage", bucket: "b", credentials: "secretRef", credentialsSecretRef: { name: "k" } },
    open: menu("Rotate keys"),
    typed: { "Service account key": keyFile },
    send: () => click("Rotate"),
  },
  // A missing Darkroom is the desired result.
  "detail/DeleteDialog": { at: "/ui/photos/cats", open: () => click("Delete"), typed: { "Type cats to confirm": "cats" }, send: async () => userEvent.click((await screen.findAllByRole("button", { name: "Delete" })).at(-1) ?? document.body), succeedsWith: [404, "empty"] },
  "explain/ExplainView": { at: "/ui/explain", typed: { "URL of an image": "https://cats.example.com/typed.jpg", "Status that": "404" }, send: () => click("Explain") },
  "detail/Playground": { at: "/ui/photos/cats?tab=playground", typed: { Path: "/typed.jpg" }, send: turn },
  "detail/PodLog": {
    at: "/ui/photos/cats",
    open: async () => {
      await click(/^Pods/);
      await click("Log and events of cats-1");
    },
    typed: { "Search the log": "typed" },
    send: () => click("Download"),
  },
};

const field = (label: string) => screen.findByLabelText<HTMLInputElement>(new RegExp(`^${label}\\b(?!space)`));
const type = async (typed: Record<string, string>) => {
  for (const [label, text] of Object.entries(typed)) {
    fireEvent.change(await field(label), { target: { value: text } });
  }
};

/** The part of the typed input that is no longer in a field. */
function lost(typed: Record<string, string>): string[] {
  const values = Array.from(document.querySelectorAll<HTMLInputElement>("input, textarea"), ({ value }) => value);
  return Object.entries(typed).flatMap(([label, text]) => (values.includes(text) ? [] : [label]));
}

/** Waits until the last clicked button has finished its work. */
const settled = () => waitFor(() => expect(Array.from(document.querySelectorAll(".pf-m-in-progress"), ({ textContent }) => textContent).pop()).toBeUndefined());

const faults: Fault[] = ["none", "html", "empty", 400, 404, 409, 412, 422, 429, 500, 503, 403];

test.each(Object.entries(forms))("nothing that was typed into %s is lost by a request that fails", { timeout: 120_000 }, async (_, { at, source, open, typed, send, succeedsWith = [] }) => {
  stored = darkroom(source ? { source: source } : {});
  history.replaceState(null, "", at);
  render(<App />);
  await screen.findByRole("heading", { level: 1 });
  await open?.();
  await type(typed);
  for (const fault of faults.filter((fault) => !succeedsWith.includes(fault))) {
    faultOf = () => fault;
    failed = [];
    await send();
    await waitFor(() => expect(failed).not.toEqual([]));
    await settled();
    expect(lost(typed), `after ${fault}`).toEqual([]);
  }
  faultOf = () => undefined;
});

test.each(Object.entries(forms))("nothing that was typed into %s is lost by a sign-in that fails", { timeout: 120_000 }, async (_, { at, source, open, typed, send }) => {
  stored = darkroom(source ? { source: source } : {});
  history.replaceState(null, "", at);
  render(<App />);
  await screen.findByRole("heading", { level: 1 });
  await open?.();
  await type(typed);
  // The session expires with the sent request: a read would open the dialog earlier, and nobody clicks below it.
  const sent = new AbortController();
  const expire = () => {
    faultOf = () => 401;
    sent.abort();
  };
  document.addEventListener("click", expire, { capture: true, signal: sent.signal });
  document.addEventListener("change", expire, { capture: true, signal: sent.signal });
  await send();
  await screen.findByText("Your session has expired");
  expect(lost(typed)).toEqual([]);
  const token = await field("Token");
  // The dialog has the focus, and closes nothing below it.
  await hasFocus(() => token);
  await userEvent.keyboard("{Escape}");
  for (const [path, fault] of [["/session", 401], ["/settings", 401], ["/session", 500], ["/settings", "html"], ["/session", "empty"]] as [string, Fault][]) {
    faultOf = (method, asked) => (asked !== path ? undefined : method === "GET" ? fault : undefined);
    fireEvent.change(token, { target: { value: "typed-token" } });
    failed = [];
    await click("Sign in");
    await waitFor(() => expect(failed).toContain(`GET ${path}`));
    await waitFor(() => expect(screen.getByText("Sign in").closest("button")?.className).not.toContain("pf-m-in-progress"));
    expect(lost({ ...typed, Token: "typed-token" }), `after ${fault} of ${path}`).toEqual([]);
    screen.getByText("Sign-in failed", { exact: false });
  }
  faultOf = () => undefined;
  await click("Sign in");
  await waitFor(() => expect(screen.queryByText("Your session has expired")).toBeNull());
});

test.each(Object.entries(forms).filter(([name]) => name.startsWith("form/")))("nothing that was typed into %s is lost by a look at the YAML or the review", { timeout: 120_000 }, async (_, { at, source, open, typed }) => {
  stored = darkroom(source ? { source: source } : {});
  history.replaceState(null, "", at);
  render(<App />);
  await screen.findByRole("heading", { level: 1 });
  await open?.();
  await type({ Version: "v0.4.9", ...typed });
  await click("YAML", "tab");
  await click("Form", "tab");
  expect(lost(typed), "after the YAML").toEqual([]);
  await review();
  await click("Back");
  expect(lost(typed), "after the review").toEqual([]);
});

const sending = Object.entries(forms).filter(([name]) => !/Playground|PodLog/.test(name));

test.each(sending)("a user who has left %s is not redirected by the response", { timeout: 120_000 }, async (name, { at, source, open, typed, send }) => {
  stored = darkroom(source ? { source: source } : {});
  history.replaceState(null, "", at);
  render(<App />);
  await screen.findByRole("heading", { level: 1 });
  await open?.();
  await type(typed);
  const isSaved = name.startsWith("form/") && !name.startsWith("form/NewSecret");
  if (isSaved) {
    await send();
  }
  const sent = vi.fn(fetch);
  let answers: () => void = () => undefined;
  const late = new Promise<void>((resolve) => (answers = resolve));
  vi.stubGlobal("fetch", async (target: string, init: RequestInit = {}) => {
    if ((init.method ?? "GET") !== "GET") {
      await late;
    }
    return sent(target, init);
  });
  await (isSaved ? click(/^(Create|Save)$/) : send());
  act(() => navigate("/ui/explain"));
  const elsewhere = await field("URL of an image");
  fireEvent.change(elsewhere, { target: { value: "https://typed.example.com" } });
  sent.mockClear();
  await act(async () => {
    answers();
    await new Promise((resolve) => setTimeout(resolve, 50));
  });
  expect(sent).toHaveBeenCalled();
  expect(location.pathname).toBe("/ui/explain");
  expect(elsewhere.isConnected && elsewhere.value).toBe("https://typed.example.com");
});

test("the token is not lost by a sign-in that fails", async () => {
  faultOf = () => 401;
  render(<App />);
  const token = await field("Token");
  for (const fault of [401, "none", 429, 500] as Fault[]) {
    for (const failing of ["POST", "GET"]) {
      faultOf = (method, path) => (path === "/session" && method === failing ? fault : undefined);
      fireEvent.change(token, { target: { value: "typed-token" } });
      failed = [];
      await click("Sign in");
      await waitFor(() => expect(failed).toContain(`${failing} /session`));
      await settled();
      expect(lost({ Token: "typed-token" }), `after ${fault} of ${failing}`).toEqual([]);
    }
  }
});

test("typed input is kept when another user has signed in in another tab, or the user is unknown", async () => {
  history.replaceState(null, "", "/ui/create");
  render(<App />);
  await type({ "Base URL": "https://example.com/typed" });
  faultOf = (_, path) => (path === "/session" ? 500 : undefined);
  const tab = new BroadcastChannel("darkroom-user");
  tab.postMessage("bob");
  await screen.findByText("Your session has expired");
  expect(lost({ "Base URL": "https://example.com/typed" })).toEqual([]);
  tab.close();
});

test("all typed input is sent above", () => {
  const sources = import.meta.glob<string>("./**/*.tsx", { query: "?raw", import: "default", eager: true });
  // Parts of the form above, filters in the address, and the fields themselves.
  const others = ["form/ProbeFields", "form/Gate", "form/SubDomains", "list/", "layout/SignIn", "layout/PlainField"];
  const known = [...Object.keys(forms).flatMap((names) => names.replace(/ with.*/, "").split(", ")), ...others];
  const typing = Object.entries(sources).filter(([path, text]) => !path.includes(".test.") && /<(PlainField|TextInput|TextArea|TextField|NumberInput|NumberField|TextInputGroup|Search)\b/.test(text));
  expect(typing.map(([path]) => path.slice(2)).filter((path) => !known.some((name) => path.startsWith(name)))).toEqual([]);
});
