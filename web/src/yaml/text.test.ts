import { expect, test } from "vitest";
import { parseDocument } from "yaml";
import { inLine, rangeOf, read } from "./text";

test.each([
  ["kind: [", "Line 1: The indentation is wrong, or a bracket is not closed."],
  ["kind: \"x", "Line 1: A character is missing, such as a closing quote, bracket or colon."],
  ["a: 1\na: 2", "Line 2: The key appears twice."],
  ["a: b: c", "Line 1: A key or its indentation is wrong."],
  ["a:\n\t- b", "Line 2: Use spaces, not tabs, for indentation."],
  ["a: 1\n---\nb: 2", "Line 2: There must be only one document."],
  ["a: *nothing", "Line 1: An alias is undefined or used too often."],
  ["text", "Line 1: The YAML must be one resource, with apiVersion, kind, metadata and spec."],
])("%j is refused in plain words", (text, error) => {
  const result = read(text);
  expect("error" in result && inLine(text, result.error)).toBe(error);
});

test.each([
  ["version", "x"],
  ["name", "cats"],
  ["podTemplate.nodeSelector.disk", "ssd"],
  ["subDomains.0.unknown", "subDomains"],
])("the location %s is found in the text", (location, want) => {
  const text = "metadata:\n  name: cats\nspec:\n  version: x\n  podTemplate:\n    nodeSelector:\n      disk: ssd\n  subDomains: cats\n";
  expect(text.slice(...rangeOf(parseDocument(text), location)).trim()).toBe(want);
});
