import { CompletionContext } from "@codemirror/autocomplete";
import { EditorState } from "@codemirror/state";
import { expect, test } from "vitest";
import { complete, pathAt } from "./complete";
import { item } from "./schema";

/** The completions at the mark | in a text. */
function at(text: string, explicit = true) {
  const pos = text.indexOf("|");
  const state = EditorState.create({ doc: text.replace("|", "") });
  return complete(new CompletionContext(state, pos, explicit))?.options ?? [];
}
const labels = (text: string) => at(text).map(({ label }) => label);

test("fields are completed with their description, and existing fields are omitted", () => {
  const options = at("kind: Darkroom\nspec:\n  replicas: 1\n  s|\n  subDomains: [a]\n");
  const found = options.map(({ label }) => label);
  expect(found).toContain("source");
  expect(found).not.toContain("replicas");
  expect(found).not.toContain("subDomains");
  expect(options.find(({ label }) => label === "source")).toMatchObject({ apply: "source:\n    ", detail: "required", info: expect.stringContaining("source of the original images") as string });
});

test.each([
  ["|", "apiVersion"],
  ["metadata:\n  |", "namespace"],
  ["spec:\n  source:\n    |", "credentialsSecretRef"],
  ["spec:\n  source:\n    credentialsSecretRef:\n      name: x\n      |", "accessKeyKey"],
  ["spec:\n  extraEnv:\n  - name: A\n    |", "valueFrom"],
  ["spec:\n  extraEnv:\n    - name: A\n    - |", "name"],
  ["spec:\n  extraEnv:\n    - name: A\n      valueFrom:\n        |", "secretKeyRef"],
  ["spec:\n  # a comment: here\n\n  |\n  source: {}\n", "probe"],
])("%j completes %s", (text, want) => {
  expect(labels(text)).toContain(want);
});

test.each([
  ["spec:\n  source:\n    type: |", ["WebFolder", "S3", "GoogleCloudStorage", "CloudFront"]],
  ["spec:\n  logLevel: w|", ["debug", "info", "warn", "error", "fatal", "panic"]],
  ["kind: |", ["Darkroom"]],
  ["spec:\n  metrics:\n    enabled: |", ["true", "false"]],
])("%j completes values", (text, want) => {
  expect(labels(text)).toEqual(want);
});

test("nothing is offered if nothing was typed or the schema has no fields", () => {
  expect(at("spec:\n  |", false)).toEqual([]);
  expect(at("spec:\n  defaultParams:\n    |")).toEqual([]);
  expect(at("spec:\n  nothing:\n    |")).toEqual([]);
});

test("a list may be in the column of its key", () => {
  expect(pathAt(["spec:", "  extraEnv:", "  - name: A", "    valueFrom:", "      x: 1"], "  - ")).toEqual(["spec", "extraEnv", item]);
});
