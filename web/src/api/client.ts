import { now } from "../clock";
import { isAborted, problemOf, unreachable, type Problem } from "./problem";
import type { Access, Darkroom, DarkroomEvent, DarkroomInput, DarkroomPatch, Explanation, Figures, Key, Namespaces, NewSecret, Pod, Question, Review, Revision, Secret, ServerSettings, SignedURL, WaysToSignIn, Who } from "./types";

interface Call {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  body?: unknown;
  ifMatch?: string;
  signal?: AbortSignal;
  /** Whether the response is a stream. */
  isEndless?: boolean;
}

/** The timeout of a request, in milliseconds. It is longer than the server's own, and ends requests on dead connections. */
const patience = 60_000;

/** Called when the session has expired. It resolves to true once the user has signed in again. */
let signedOut: () => Promise<boolean> = () => Promise.resolve(false);
export const onSignedOut = (listener: () => Promise<boolean>): void => {
  signedOut = listener;
};

/** Reports that the session has expired. It resolves to true once the same user has signed in again. */
export const signInAgain = (): Promise<boolean> => signedOut();

const session = "/session";
const settings = "/settings";

/** Sends a request, and reads the response if it is a success. */
async function call<T>(path: string, read: (response: Response) => T | Promise<T>, options: Call = {}): Promise<T> {
  const { method = "GET", body, ifMatch, signal, isEndless } = options;
  const headers = {
    ...(body === undefined ? {} : { "Content-Type": method === "PATCH" ? "application/merge-patch+json" : "application/json" }),
    ...(ifMatch === undefined ? {} : { "If-Match": ifMatch }),
  };
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), patience);
  let problem: Problem;
  try {
    const response = await fetch(path, {
      method,
      headers,
      credentials: "same-origin",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
    });
    if (response.ok) {
      if (isEndless) {
        clearTimeout(timer);
      }
      return await read(response);
    }
    problem = await problemOf(response);
  } catch (thrown) {
    throw isAborted(thrown) && !late.signal.aborted ? thrown : unreachable();
  } finally {
    clearTimeout(timer);
  }
  // A token that is refused at sign-in does not end a session.
  if (problem.status === 401 && path !== session && path !== settings && (await signedOut())) {
    return call(path, read, options);
  }
  throw problem;
}

const json = <T>(path: string, options?: Call): Promise<T> => call(path, (response) => response.json() as Promise<T>, options);

const items = async <T>(path: string, signal?: AbortSignal): Promise<T[]> => (await json<{ items: T[] }>(path, { signal })).items;

const one = ({ namespace, name }: Key): string => `/darkrooms/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
const dry = (dryRun = false): string => (dryRun ? "?dryRun=All" : "");

const warningsOf = ({ headers }: Response): string[] => [...(headers.get("Warning") ?? "").matchAll(/299 - "([^"]*)"/g)].map(([, text = ""]) => text);

export interface Options {
  dryRun?: boolean;
}

export interface FetchedImage {
  blob: Blob;
  /** From the request to the last byte. */
  milliseconds: number;
  /** When the last byte arrived. */
  at: string;
}

export interface LogQuery {
  container: string;
  previous: boolean;
  follow?: boolean;
  lines?: number;
}

const logPath = (key: Key, pod: string, { container, previous, follow = false, lines = 500 }: LogQuery): string =>
  `${one(key)}/pods/${encodeURIComponent(pod)}/log?${new URLSearchParams({ container, lines: String(lines), follow: String(follow), previous: String(previous) }).toString()}`;

export const api = {
  whoAmI: () => json<Who>(session),
  signIn: (token: string) => json<Who>(session, { method: "POST", body: { token } }),
  signOut: () => call(session, () => undefined, { method: "DELETE" }),
  waysToSignIn: () => json<WaysToSignIn>("/sign-in"),
  settings: () => json<ServerSettings>(settings),
  access: ({ namespace, name }: { namespace: string; name?: string }, signal?: AbortSignal) =>
    json<Access>(`/access?${new URLSearchParams(name ? { namespace, name } : { namespace }).toString()}`, { signal }),

  namespaces: (signal?: AbortSignal) => json<Namespaces>("/access/namespaces", { signal }),
  explain: (body: Question, signal?: AbortSignal) => json<Explanation>("/explain", { method: "POST", body, signal }),
  createSecret: (body: NewSecret) => json<Secret>("/secrets", { method: "POST", body }),

  get: (key: Key, signal?: AbortSignal) => json<Darkroom>(one(key), { signal }),
  create: (body: DarkroomInput, { dryRun }: Options = {}) => json<Darkroom>("/darkrooms" + dry(dryRun), { method: "POST", body }),
  replace: (key: Key, body: DarkroomInput, ifMatch: string, { dryRun }: Options = {}) =>
    json<Darkroom>(one(key) + dry(dryRun), { method: "PUT", body, ifMatch }),
  /** Validates an input by a dry run. Returns the warnings: the hosts that other Darkrooms hold. */
  check: (stored: Key | undefined, body: DarkroomInput, signal: AbortSignal) =>
    call((stored ? one(stored) : "/darkrooms") + dry(true), warningsOf, stored ? { method: "PUT", body, ifMatch: "*", signal } : { method: "POST", body, signal }),
  patch: (key: Key, body: DarkroomPatch, ifMatch: string, dryRun = false) => json<Darkroom>(one(key) + dry(dryRun), { method: "PATCH", body, ifMatch }),
  remove: (key: Key, ifMatch: string) => call(one(key), () => undefined, { method: "DELETE", ifMatch }),

  revisions: (key: Key, signal?: AbortSignal) => items<Revision>(one(key) + "/revisions", signal),
  rollBack: (key: Key, revision: number, ifMatch: string, dryRun = false) => json<Darkroom>(one(key) + "/rollback" + dry(dryRun), { method: "POST", body: { revision }, ifMatch }),
  pods: (key: Key, signal?: AbortSignal) => items<Pod>(one(key) + "/pods", signal),
  figures: (key: Key, signal?: AbortSignal) => json<Figures>(one(key) + "/figures", { signal }),
  events: (key: Key, signal?: AbortSignal) => items<DarkroomEvent>(one(key) + "/events", signal),
  podEvents: (key: Key, pod: string, signal?: AbortSignal) => items<DarkroomEvent>(`${one(key)}/pods/${encodeURIComponent(pod)}/events`, signal),
  log: (key: Key, pod: string, query: LogQuery) => call(logPath(key, pod, query), (response) => response.blob()),
  /** Reads a log as it grows. */
  followLog: (key: Key, pod: string, query: LogQuery, onText: (text: string) => void, signal: AbortSignal) =>
    call(
      logPath(key, pod, query),
      async ({ body }) => {
        const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
        for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
          onText(piece.value);
        }
      },
      { signal, isEndless: true },
    ),
  manifest: (key: Key, signal?: AbortSignal) => call(one(key) + "/manifest", (response) => response.text(), { signal }),
  review: (key: Key, body: DarkroomInput) => json<Review>(one(key) + "/review", { method: "POST", body }),
  /** The URL of an image, without the host, with a signature if the Darkroom requires one. */
  sign: (key: Key, query: URLSearchParams, signal?: AbortSignal) => json<SignedURL>(`${one(key)}/signed-url?${query.toString()}`, { signal }),
  image: async (key: Key, query: URLSearchParams, signal?: AbortSignal): Promise<FetchedImage> => {
    const began = performance.now();
    const blob = await call(`${one(key)}/image?${query.toString()}`, (response) => response.blob(), { signal });
    return { blob, milliseconds: performance.now() - began, at: new Date(now()).toISOString() };
  },
};
