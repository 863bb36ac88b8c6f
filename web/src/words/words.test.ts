// @vitest-environment jsdom
import { expect, test } from "vitest";
import { darkroom } from "../../test/darkrooms";
import { age, bytes } from "./age";
import { findingOf, separate, worthTelling } from "./conditions";
import { urlOf } from "./domains";
import { phaseOf } from "./phases";

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
  [{ type: "Ready", status: "True", message: "1 of 1 pods are ready." }, "good", "Pictures are served"],
  [{ type: "Ready", status: "False", reason: "ImagePullFailed" }, "bad", "Pictures are not served as asked for"],
  [{ type: "Ready", status: "False", reason: "Deploying" }, "busy", "Pictures are not served as asked for"],
  [{ type: "Irreconcilable", status: "True" }, "bad", "The operator cannot install it as it is"],
  [{ type: "Paused", status: "True" }, "neutral", "The operator leaves it alone"],
  [{ type: "DomainsReady", status: "Unknown" }, "neutral", "Domains ready: not known"],
  [{ type: "SomethingNew", status: "True" }, "neutral", "Something new: True"],
])("%j is told as %s", (condition, tone, title) => {
  expect(findingOf(condition)).toMatchObject({ tone, title });
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
