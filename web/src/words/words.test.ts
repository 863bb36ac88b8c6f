// @vitest-environment jsdom
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { darkroom } from "../../test/darkrooms";
import { age, bytes } from "./age";
import { findingOf, meanings, reasonOf, servingOf, worthTelling } from "./conditions";
import { urlOf } from "./domains";
import { sentence } from "./format";
import { phaseNames, phaseOf } from "./phases";
import { schemaAt } from "../yaml/schema";
import { describeReason, reasonWords, separate } from "./reasons";
import { troubleOf } from "./remedies";

const root = join(import.meta.dirname, "../../..");

/** The values of the string constants of api/v1alpha1/conditions.go whose names have a prefix. */
const constants = (prefix: string): string[] =>
  [...readFileSync(join(root, "api/v1alpha1/conditions.go"), "utf8").matchAll(new RegExp(`^(?:const |\\s*)${prefix}\\w+\\s*=\\s*"(\\w+)"`, "gm"))].map(
    ([, value = ""]) => value,
  );

const now = Date.parse("2026-01-10T00:00:00Z");

test.each([
  ["2026-01-09T23:59:18Z", "42s"],
  ["2026-01-09T23:55:00Z", "5m"],
  ["2026-01-09T20:30:00Z", "3h"],
  ["2026-01-01T00:00:00Z", "9d"],
  ["2023-01-01T00:00:00Z", "3y"],
  ["2026-01-10T00:00:05Z", "0s"],
  [undefined, "–"],
])("%s is %s ago", (since, want) => {
  expect(age(since, now)).toBe(want);
});

test.each([
  [512, "512 B"],
  [2048, "2.0 KiB"],
  [3_500_000, "3.3 MiB"],
])("%i bytes are %s", (n, want) => {
  expect(bytes(n)).toBe(want);
});

test.each([
  ["the source has no image /cat.jpg", "The source has no image /cat.jpg"],
  ["required, for example photos", "Required, for example photos"],
  ["spec.subDomains is empty", "spec.subDomains is empty"],
  ['darkrooms.deployments.example.com "cats" not found', 'darkrooms.deployments.example.com "cats" not found'],
])("the message %s is shown as %s", (message, want) => {
  expect(sentence(message)).toBe(want);
});

test.each([
  ["ImagePullFailed", "Image pull failed"],
  ["CrashLoopBackOff", "Crash loop back off"],
  ["OOMKilled", "OOM killed"],
])("%s reads %s", (word, want) => {
  expect(separate(word)).toBe(want);
});

test.each([
  [{ type: "Ready", status: "True" as const, message: "1 of 1 pods are ready." }, "good", "All pods are ready"],
  [{ type: "Ready", status: "False" as const, reason: "ImagePullFailed" }, "bad", "Not ready"],
  [{ type: "Ready", status: "False" as const, reason: "Deploying" }, "busy", "Not ready"],
  [{ type: "Ready", status: "True" as const, reason: "ScaledToZero" }, "neutral", "Scaled to zero"],
  [{ type: "Ready", status: "Unknown" as const, reason: "Paused" }, "neutral", "Unknown whether it is ready"],
  [{ type: "CredentialsReady", status: "False" as const, reason: "SecretMissing" }, "bad", "Credentials missing"],
  [{ type: "SourceReady", status: "True" as const }, "good", "Images are served"],
  [{ type: "SourceReady", status: "False" as const, reason: "SourceDenied" }, "bad", "Images are not served"],
  [{ type: "SourceReady", status: "Unknown" as const, reason: "NoProbe" }, "neutral", "Unknown whether images are served"],
  [{ type: "SourceReady", status: "Unknown" as const, reason: "ProbePending" }, "busy", "Unknown whether images are served"],
  [{ type: "SourceReady", status: "False" as const, reason: "NewPodsNotServing" }, "bad", "New pods do not serve images"],
  [{ type: "Contested", status: "True" as const }, "bad", "Another writer keeps changing an object"],
  [{ type: "RolloutQueued", status: "True" as const }, "busy", "Waits for the rollouts of other Darkrooms"],
  [{ type: "Stalled", status: "True" as const }, "bad", "Stalled: needs a change"],
  [{ type: "Reconciling", status: "True" as const }, "busy", "Applying changes"],
  [{ type: "Irreconcilable", status: "True" as const }, "bad", "Cannot be installed as specified"],
  [{ type: "Paused", status: "True" as const }, "neutral", "Reconciliation is paused"],
  [{ type: "DomainsReady", status: "Unknown" as const }, "neutral", "Unknown whether all hosts are routed"],
  [{ type: "DomainsReady", status: "Unknown" as const, reason: "AwaitingGateway" }, "busy", "Unknown whether all hosts are routed"],
  [{ type: "Deployed", status: "Unknown" as const }, "neutral", "Deployed: unknown"],
  [{ type: "SomethingNew", status: "True" as const }, "neutral", "Something new: True"],
  [{ type: "constructor", status: "False" as const, reason: "toString" }, "neutral", "constructor: False"],
])("%j is shown as %s: %s", (condition, tone, title) => {
  expect(findingOf(condition)).toMatchObject({ tone, title });
});

test("only SourceReady means that images are served", () => {
  for (const type of Object.keys(meanings).filter((type) => type !== "SourceReady")) {
    for (const status of ["True", "False", "Unknown"] as const) {
      expect(findingOf({ type, status }).title).not.toMatch(/images? (is|are|was|were) served/);
    }
  }
});

test("every condition type of the API has words", () => {
  const types = constants("Condition");
  expect(types).toEqual(expect.arrayContaining(["Ready", "DomainsReady", "CredentialsReady", "Irreconcilable", "Contested"]));
  expect(types.sort()).toEqual(Object.keys(meanings).sort());
});

test("every reason of the API has words, and so has every event of the operator", () => {
  const reasons = constants("Reason");
  expect(reasons).toEqual(expect.arrayContaining(["AllReplicasReady", "ForeignWriter", "ImageServed"]));
  // A Go test compares that page with the operator.
  const sections = readFileSync(join(root, "docs/conditions.md"), "utf8").split(/^## /m);
  const section = sections.find((text) => text.startsWith("Events\n")) ?? "";
  const events = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, event = ""]) => event);
  expect(events).toEqual(expect.arrayContaining(["Installed", "DomainConflict"]));
  expect([...new Set([...reasons, ...events])].sort()).toEqual(Object.keys(reasonWords).sort());
});

test.each([
  ["ImageServed", "Image served"],
  ["CrashLoopBackOff", "Crash loop back off"],
  ["constructor", "constructor"],
])("the reason %s reads %s", (reason, want) => {
  expect(describeReason(reason)).toBe(want);
});

test("every phase of the API has words", () => {
  const folder = join(import.meta.dirname, "../../../api/v1alpha1");
  const found = readdirSync(folder)
    .filter((file) => file.endsWith(".go"))
    .flatMap((file) => [...readFileSync(join(folder, file), "utf8").matchAll(/^\s*Phase\w+\s+(?:Phase\s*)?=\s*"(\w+)"/gm)])
    .map(([, phase]) => phase);
  expect(found).toContain("Degraded");
  expect(found.filter((phase) => !(phaseNames as (string | undefined)[]).includes(phase))).toEqual([]);
});

test.each([
  [[{ type: "Ready", status: "False" as const, reason: "DomainConflict" }], "DomainConflict"],
  [[{ type: "Ready", status: "True" as const, reason: "AllReplicasReady" }], undefined],
  [[], undefined],
])("the reason of %j is %s", (conditions, want) => {
  expect(reasonOf(darkroom({ status: { ...darkroom().status, conditions } }))).toBe(want);
});

test("conditions that report nothing wrong are omitted", () => {
  const conditions = [
    { type: "Ready", status: "True" as const },
    { type: "ReleaseFailed", status: "False" as const },
    { type: "ReleaseFailed", status: "True" as const },
    { type: "Initialized", status: "True" as const },
    { type: "Initialized", status: "False" as const },
  ];
  expect(worthTelling(conditions)).toEqual([conditions[0], conditions[2], conditions[4]]);
});

test("a Darkroom that the operator has not seen is pending, and one that is being deleted is terminating", () => {
  const { phase: _, ...status } = darkroom().status;
  expect(phaseOf(darkroom({ status }))).toBe("Pending");
  expect(phaseOf(darkroom({ deletedAt: "2026-01-01T00:00:00Z" }))).toBe("Terminating");
});

test.each([
  [undefined, "http://cats.example.com"],
  ["http://album.example.com", "http://cats.example.com"],
  ["https://album.example.com", "https://cats.example.com"],
  ["http://album.example.com:8080", "http://cats.example.com:8080"],
  ["https://album.example.com:8443", "https://cats.example.com:8443"],
])("if the URL is %s, a host is reached at %s", (url, want) => {
  expect(urlOf({ url }, "cats.example.com")).toBe(want);
});

test.each([
  [undefined, "True" as const, "Images not checked"],
  [{ path: "/cat.jpg" }, "True" as const, "Image served"],
  [{ path: "/cat.jpg" }, "False" as const, "Image not served"],
  [{ path: "/cat.jpg" }, undefined, "Image not checked yet"],
])("with the probe %j and SourceReady %s, the list shows: %s", (probe, status, want) => {
  const conditions = [{ type: "Ready", status: "True" as const }, ...(status ? [{ type: "SourceReady", status }] : [])];
  expect(servingOf(darkroom({ ...(probe ? { probe } : {}), status: { ...darkroom().status, conditions } }))).toBe(want);
});

test("a file that pods lack is remedied by the field that names it", () => {
  const { status, ...rest } = darkroom();
  const remedies = (message: string) => {
    const conditions = [{ type: "Ready", status: "False" as const, reason: "PodsFailing", message }];
    return troubleOf({ ...rest, status: { ...status, phase: "Degraded", message, conditions } })?.remedies;
  };
  expect(remedies('Secret sign has no key "keys". Add the key, or name another key in gate.signing.secretRef.')).toEqual([
    { label: "Edit gate.signing.secretRef", field: "gate.signing.secretRef" },
  ]);
  expect(remedies('ConfigMap ca does not exist in namespace photos. Create it with the key "ca.crt", or change additionalSources[0].caBundleRef.')).toEqual([
    { label: "Edit additionalSources[0].caBundleRef", field: "additionalSources.0.caBundleRef" },
  ]);
  expect(remedies("Pod cats-1: CrashLoopBackOff: exit code 1 (Error), restarted 3 times.")?.map(({ field }) => field)).toEqual(["extraEnv", "resources.requests.cpu"]);
});

test("every remedy leads to a field of the resource", () => {
  const fields = Object.keys(reasonWords).flatMap((reason) => {
    const { status, ...rest } = darkroom();
    const conditions = [{ type: "Ready", status: "False" as const, reason }];
    return troubleOf({ ...rest, status: { ...status, phase: "Degraded", conditions } })?.remedies.map(({ field }) => field) ?? [];
  });
  expect(fields).toContain("ingress.className");
  expect(fields.filter((field) => schemaAt(["spec", ...field.split(".")]) === undefined)).toEqual([]);
});
