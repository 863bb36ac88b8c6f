// @vitest-environment jsdom
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { darkroom } from "../../test/darkrooms";
import { age, bytes } from "./age";
import { findingOf, meanings, reasonOf, separate, worthTelling } from "./conditions";
import { urlOf } from "./domains";
import { phaseNames, phaseOf } from "./phases";

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
  ["ImagePullFailed", "Image pull failed"],
  ["CrashLoopBackOff", "Crash loop back off"],
  ["OOMKilled", "OOM killed"],
])("%s reads %s", (word, want) => {
  expect(separate(word)).toBe(want);
});

test.each([
  [{ type: "Ready", status: "True", message: "1 of 1 pods are ready." }, "good", "Pods are ready; no image was checked"],
  [{ type: "Ready", status: "False", reason: "ImagePullFailed" }, "bad", "Not ready"],
  [{ type: "Ready", status: "False", reason: "Deploying" }, "busy", "Not ready"],
  [{ type: "Ready", status: "False", reason: "ScaledToZero" }, "neutral", "Not ready"],
  [{ type: "CredentialsReady", status: "False", reason: "SecretMissing" }, "bad", "Credentials missing"],
  [{ type: "SourceReady", status: "True" }, "good", "An image was served from the source"],
  [{ type: "SourceReady", status: "False" }, "bad", "The source serves no images"],
  [{ type: "SourceReady", status: "Unknown" }, "neutral", "No image was checked"],
  [{ type: "Stalled", status: "True" }, "bad", "Stalled: needs a change"],
  [{ type: "Reconciling", status: "True" }, "busy", "Applying changes"],
  [{ type: "Irreconcilable", status: "True" }, "bad", "Cannot be installed as specified"],
  [{ type: "Paused", status: "True" }, "neutral", "Reconciliation is paused"],
  [{ type: "DomainsReady", status: "Unknown" }, "neutral", "Domains ready: unknown"],
  [{ type: "SomethingNew", status: "True" }, "neutral", "Something new: True"],
])("%j is shown as %s: %s", (condition, tone, title) => {
  expect(findingOf(condition)).toMatchObject({ tone, title });
});

test.each([
  [[], "Pods are ready; no image was checked"],
  [[{ type: "SourceReady", status: "Unknown" }], "Pods are ready; no image was checked"],
  [[{ type: "SourceReady", status: "False" }], "Pods are ready"],
  [[{ type: "SourceReady", status: "True" }], "Pods are ready"],
])("pods that are ready, beside %j, read %s", (others, title) => {
  expect(findingOf({ type: "Ready", status: "True" }, others).title).toBe(title);
});

test("every condition type of the API has words", () => {
  const source = readFileSync(join(import.meta.dirname, "../../../api/v1alpha1/conditions.go"), "utf8");
  const types = [...source.matchAll(/^\s*Condition\w+\s*=\s*"(\w+)"/gm)].map(([, type]) => type);
  expect(types).toEqual(expect.arrayContaining(["Ready", "DomainsReady", "CredentialsReady", "Irreconcilable"]));
  expect(types.filter((type) => !(type && type in meanings))).toEqual([]);
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
  [[{ type: "Ready", status: "False", reason: "DomainConflict" }], "DomainConflict"],
  [[{ type: "Ready", status: "True", reason: "AllReplicasReady" }], undefined],
  [[], undefined],
])("the reason of %j is %s", (conditions, want) => {
  expect(reasonOf(darkroom({ status: { ...darkroom().status, conditions } }))).toBe(want);
});

test("that nothing is wrong needs no line", () => {
  const conditions = [
    { type: "Ready", status: "True" },
    { type: "ReleaseFailed", status: "False" },
    { type: "ReleaseFailed", status: "True" },
  ];
  expect(worthTelling(conditions)).toEqual([conditions[0], conditions[2]]);
});

test("a Darkroom that the operator has not seen is pending, one that is deleted goes", () => {
  const { phase: _, ...status } = darkroom().status;
  expect(phaseOf(darkroom({ status }))).toBe("Pending");
  expect(phaseOf(darkroom({ deletedAt: "2026-01-01T00:00:00Z" }))).toBe("Terminating");
});

test("hosts are reached by https where there is a certificate", () => {
  expect(urlOf(darkroom(), "cats.example.com")).toBe("http://cats.example.com");
  expect(urlOf(darkroom({ ingress: { tlsSecretName: "tls" } }), "cats.example.com")).toBe("https://cats.example.com");
});
