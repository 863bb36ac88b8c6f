import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { check } from "./check";
import { read } from "./text";

const head = "apiVersion: deployments.example.com/v1alpha1\nkind: Darkroom\nmetadata: {name: cats}\nspec:\n";

/** Findings, each as the marked text and its message. */
function findings(spec: string): string[] {
  const text = head + spec;
  const result = read(text);
  if ("error" in result) {
    throw new Error(result.error.message);
  }
  return check(result.document).map(({ from, to, message }) => `${text.slice(from, to).trim()}: ${message}`);
}

const rest = "  source: {baseUrl: https://example.com}\n  subDomains: [cats]\n";

test.each([
  ["  replicas: many\n", "many: Must be a whole number"],
  ["  replicas: 2000\n", "2000: Must be from 0 to 1000"],
  ["  replica: 1\n", "replica: Unknown field replica"],
  ["  logLevel: loud\n", "loud: Must be one of debug, info, warn, error, fatal, panic"],
  ["  version: 1.0\n", "1.0: Must be a text; quote numbers, true and false"],
  ["  resources: {limits: {memory: lots}}\n", "lots: Must be a quantity, for example 500m, 2 or 256Mi"],
  ["  probe: /cat.jpg\n", "/cat.jpg: Must be an object with fields"],
  ["  probe: {periodSeconds: 60}\n", "probe: Missing field path"],
  ["  autoscaling: [1]\n", "autoscaling: Must be an object with fields"],
  ["  extraEnv:\n    - {name: A, value: true}\n", "true: Must be a text; quote numbers, true and false"],
])("%j is marked", (spec, want) => {
  expect(findings(spec + rest)).toEqual([want]);
});

test("a missing field is reported at the object that lacks it", () => {
  expect(findings("  source: {baseUrl: https://example.com}\n")).toEqual(["spec: Missing field subDomains"]);
});

test("what Kubernetes accepts is not marked", () => {
  const full = readFileSync(new URL("../../../config/samples/darkroom-full.yaml", import.meta.url), "utf8");
  const result = read(full);
  expect("error" in result ? result.error : check(result.document)).toEqual([]);
  expect(findings(`  replicas:\n  resources: {limits: {cpu: 2, memory: 256Mi}}\n${rest}status: {anything: 1}\n`)).toEqual([]);
});
