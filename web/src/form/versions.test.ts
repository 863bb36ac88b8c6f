// @vitest-environment jsdom
import { beforeEach, expect, test, vi } from "vitest";
import { darkroom } from "../../test/darkrooms";
import { actionNames, type ActionName } from "../actions/actions";
import { perform } from "../actions/perform";
import { api } from "../api/client";
import type { Darkroom, DarkroomInput } from "../api/types";
import { toInput } from "../model/model";
import { createOnce, patchSeen, removeSeen, replaceSeen, writeSeen } from "./versions";

/** The Darkroom on the server, which stores it like the real server: with defaults, a generation and a version. */
let stored: Darkroom | undefined;
/** How many requests are performed without a response. */
let losing: number;
/** The stored versions, in order. */
let history: Darkroom[];

type Fields = Record<string, unknown>;
const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);
function merged(before: unknown, patch: unknown): unknown {
  if (!isObject(patch)) {
    return patch;
  }
  const out: Fields = isObject(before) ? { ...before } : {};
  for (const [name, value] of Object.entries(patch)) {
    out[name] = value === null ? undefined : merged(out[name], value);
  }
  return out;
}

const answer = (status: number, body: unknown = { title: "Refused", status, detail: `status ${status}` }) => new Response(JSON.stringify(body), { status });

/** Changes the stored Darkroom, like another client. */
function store(input: DarkroomInput, dryRun = false): Darkroom {
  const before = stored ?? darkroom({ generation: 0, resourceVersion: "0" });
  // Omitted labels and annotations are kept, and so are fields that clients cannot write.
  const { uid, createdAt, status, labels: oldLabels, annotations: oldAnnotations } = before;
  const wanted = { uid, createdAt, status, labels: oldLabels, annotations: oldAnnotations, replicas: 1, ...input } as Darkroom;
  const { labels, annotations, ...settings } = toInput(wanted);
  const { labels: _, annotations: __, ...were } = toInput(before);
  const isSame = stored && JSON.stringify([settings, labels, annotations]) === JSON.stringify([were, before.labels, before.annotations]);
  if (stored && isSame) {
    return stored;
  }
  const isSpec = JSON.stringify(settings) !== JSON.stringify(were);
  const version = String(Number(before.resourceVersion) + 1);
  const generation = (before.generation ?? 0) + (isSpec || !stored ? 1 : 0);
  const out = { ...wanted, generation, resourceVersion: version, etag: `"${generation}.${version}"` };
  if (!dryRun) {
    stored = out;
    history.push(out);
  }
  return out;
}

function handle(path: string, { method = "GET", body, headers }: RequestInit): Response {
  const dryRun = path.includes("dryRun=All");
  const sent = typeof body === "string" ? (JSON.parse(body) as DarkroomInput) : undefined;
  if (method === "POST" && /^\/darkrooms(\?|$)/.test(path)) {
    return stored ? answer(409) : answer(201, store(sent ?? toInput(darkroom()), dryRun));
  }
  if (!stored) {
    return answer(404);
  }
  if (method === "GET") {
    return answer(200, stored);
  }
  if (new Headers(headers).get("If-Match") !== stored.etag) {
    return answer(412);
  }
  if (method === "DELETE") {
    stored = { ...stored, deletedAt: "2026-01-01T00:00:00Z", generation: (stored.generation ?? 0) + 1, etag: '"deleting"' };
    history.push(stored);
    return answer(202, {});
  }
  if (path.includes("/rollback")) {
    return answer(200, store({ ...toInput(stored), replicas: 7 }, dryRun));
  }
  return answer(200, store(method === "PATCH" ? (merged(toInput(stored), sent) as DarkroomInput) : (sent ?? toInput(stored)), dryRun));
}

beforeEach(() => {
  stored = undefined;
  history = [];
  losing = 0;
  vi.stubGlobal("fetch", (path: string, init: RequestInit = {}) => {
    const response = handle(path, init);
    const isWrite = (init.method ?? "GET") !== "GET" && !path.includes("dryRun");
    return isWrite && losing-- > 0 ? Promise.reject(new TypeError("Failed to fetch")) : Promise.resolve(response);
  });
});

const begin = (part: Partial<Darkroom> = {}): Darkroom => {
  store(toInput(darkroom({ replicas: 3, ...part })));
  history = [];
  return stored as unknown as Darkroom;
};
const now = "2026-01-01T00:00:00Z";
const edited = (seen: Darkroom): DarkroomInput => ({ ...toInput(seen), replicas: 9, labels: { team: "a" } });

/** Every write of the page to a version that the user has seen. */
const writes: Record<string, (seen: Darkroom) => Promise<unknown>> = {
  ...Object.fromEntries(actionNames.map((action: ActionName) => [action, (seen: Darkroom) => perform(action, seen, now, 5)])),
  "an edit": (seen) => replaceSeen(seen, edited(seen), false),
  "a roll-back": (seen) => writeSeen(seen, { replicas: 7 }, (ifMatch, dryRun) => api.rollBack(seen, 1, ifMatch, dryRun)),
  "new keys": (seen) => patchSeen(seen, { source: { credentialsSecretRef: { name: "k" } } }),
  // It removes a field, and has keys that are never shown.
  "an edit that removes": (seen) => replaceSeen(seen, { ...toInput(seen), gate: undefined, source: { type: "S3", bucket: "b", region: "r", accessKey: "a", secretKey: "b" } }, false),
  "a deletion": (seen) => removeSeen(seen),
};
const pausedBefore = (name: string): Partial<Darkroom> => (name === "resume" ? { annotations: { "deployments.example.com/paused": "true" } } : {});

test.each(Object.entries(writes))("%s whose response was lost is done, and done once", async (name, write) => {
  const seen = begin(pausedBefore(name));
  losing = 2;
  await expect(write(seen)).rejects.toThrow("cannot be reached");
  expect(history).toHaveLength(1);
  losing = 0;
  await write(seen);
  expect(history).toHaveLength(1);
  await write(seen);
  expect(history).toHaveLength(1);
});

test.each(Object.entries(writes).filter(([name]) => name !== "a deletion"))("%s is not done if another user has since changed the same", async (name, write) => {
  const seen = begin(pausedBefore(name));
  losing = 1;
  await expect(write(seen)).rejects.toThrow("cannot be reached");
  store({ labels: {}, annotations: {}, ...toInput(seen), subDomains: ["theirs"] });
  await expect(write(seen)).rejects.toThrow("Another user changed this Darkroom");
  expect(history).toHaveLength(2);
});

test("a deletion that another user requested is done; a deletion of another version is not", async () => {
  const seen = begin();
  store({ ...toInput(seen), replicas: 4 });
  await expect(removeSeen(seen)).rejects.toThrow("Another user changed this Darkroom");
  expect(stored?.deletedAt).toBeUndefined();
  stored = undefined;
  await removeSeen(seen);
});

test("a Darkroom whose response was lost is created, and one that differs is not", async () => {
  const input = toInput(darkroom());
  losing = 1;
  await expect(createOnce(input, {})).rejects.toThrow("cannot be reached");
  expect(await createOnce(input, {})).toEqual(stored);
  expect(await createOnce(input, { dryRun: true })).toEqual(stored);
  expect(history).toHaveLength(1);
  await expect(createOnce({ ...input, replicas: 2 }, {})).rejects.toMatchObject({ status: 409 });
  expect(history).toHaveLength(1);
});

test("these are all writes of a Darkroom", () => {
  const sources = import.meta.glob<string>("../**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true });
  for (const [path, text] of Object.entries(sources)) {
    if (!path.includes(".test.") && !path.endsWith("/versions.ts") && !path.endsWith("/useChecked.ts")) {
      for (const line of text.split("\n").filter((line) => /\bapi\.(create|replace|patch|rollBack|remove)\(/.test(line))) {
        expect(`${path}: ${line}`).toMatch(/writeSeen\(/);
      }
    }
  }
});
