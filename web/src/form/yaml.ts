import { isNode, LineCounter, parseDocument, stringify, type YAMLError } from "yaml";
import type { DarkroomInput } from "../api/types";
import { fromManifest, toManifest } from "./model";

/** Parses a text, or describes what is wrong with it and in which line. */
export function read(text: string): { input: DarkroomInput } | { error: string } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [first] = document.errors;
  if (first) {
    return { error: `Line ${lines.linePos(first.pos[0]).line}: ${messages[first.code] ?? "the YAML syntax is invalid"}.` };
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 10 });
  } catch {
    return { error: "The YAML has an alias that is undefined or used too often." };
  }
  try {
    return { input: fromManifest(value) };
  } catch (thrown) {
    return { error: `The YAML ${thrown instanceof Error ? thrown.message : "is invalid"}.` };
  }
}

/** Syntax errors in the words of this page, not of the parser. */
const messages: Partial<Record<YAMLError["code"], string>> = {
  BAD_INDENT: "the indentation is wrong, or a bracket is not closed",
  BLOCK_AS_IMPLICIT_KEY: "a key or its indentation is wrong",
  DUPLICATE_KEY: "the key appears twice",
  MISSING_CHAR: "a character is missing, such as a closing quote, bracket or colon",
  MULTIPLE_DOCS: "there must be only one document",
  MULTILINE_IMPLICIT_KEY: "a key must be on one line",
  TAB_AS_INDENT: "use spaces, not tabs, for indentation",
  UNEXPECTED_TOKEN: "there is an unexpected character",
};

export const write = (input: DarkroomInput): string => stringify(toManifest(input), { lineWidth: 0 });

/** The range of a field in the text, or of the closest field above it. */
export function rangeOf(text: string, location: string): [from: number, to: number] {
  const path = location.split(".").filter(Boolean);
  const inMetadata = ["name", "namespace", "labels", "annotations"].includes(path[0] ?? "");
  const document = parseDocument(text);
  for (const keys = [inMetadata ? "metadata" : "spec", ...path]; keys.length > 0; keys.pop()) {
    const node = document.getIn(keys, true);
    if (isNode(node) && node.range) {
      return [node.range[0], node.range[1]];
    }
  }
  return [0, 0];
}
