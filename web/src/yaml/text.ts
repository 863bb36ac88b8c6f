import { isMap, isNode, isScalar, parseDocument, stringify, type Document, type YAMLError } from "yaml";
import type { DarkroomInput } from "../api/types";
import { fromManifest, toManifest, type Path } from "../model/model";

/** A problem of a text, from one offset to another. */
export interface Finding {
  from: number;
  to: number;
  message: string;
}

/** Parses a text, or returns its errors. */
export function read(text: string): { input: DarkroomInput; document: Document.Parsed } | { error: Finding } {
  const document = parseDocument(text, { prettyErrors: false });
  const [first] = document.errors;
  if (first) {
    const [from, to] = first.pos;
    return { error: { from, to, message: messages[first.code] ?? "The YAML syntax is invalid" } };
  }
  const everywhere = (message: string) => ({ error: { from: 0, to: text.trimEnd().length, message } });
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 10 });
  } catch {
    return everywhere("An alias is undefined or used too often");
  }
  try {
    return { input: fromManifest(value), document };
  } catch (thrown) {
    return everywhere(thrown instanceof Error ? thrown.message : "The YAML is invalid");
  }
}

/** Syntax errors in plain words. */
const messages: Partial<Record<YAMLError["code"], string>> = {
  BAD_INDENT: "The indentation is wrong, or a bracket is not closed",
  BLOCK_AS_IMPLICIT_KEY: "A key or its indentation is wrong",
  DUPLICATE_KEY: "The key appears twice",
  MISSING_CHAR: "A character is missing, such as a closing quote, bracket or colon",
  MULTIPLE_DOCS: "There must be only one document",
  MULTILINE_IMPLICIT_KEY: "A key must be on one line",
  TAB_AS_INDENT: "Use spaces, not tabs, for indentation",
  UNEXPECTED_TOKEN: "There is an unexpected character",
};

/** An error with its line, where the text is not visible. */
export const inLine = (text: string, { from, message }: Finding): string =>
  `Line ${text.slice(0, from).split("\n").length}: ${message}.`;

export const write = (input: DarkroomInput): string => stringify(toManifest(input), { lineWidth: 0 });

/** The path of a field in the resource. */
function inManifest(path: Path): string[] {
  const inMetadata = ["name", "namespace", "labels", "annotations"].includes(path[0] ?? "");
  return [inMetadata ? "metadata" : "spec", ...path];
}

/** The range of a field in a document. For a missing field, the key of its closest parent. */
export function rangeOf(document: Document, location: string): [from: number, to: number] {
  const keys = inManifest(location.split(".").filter(Boolean));
  let found: unknown = document.getIn(keys, true);
  for (; !found && keys.length > 0; keys.pop()) {
    const above = document.getIn(keys.slice(0, -1), true);
    found = isMap(above) ? above.items.find(({ key }) => isScalar(key) && key.value === keys.at(-1))?.key : undefined;
  }
  return isNode(found) && found.range ? [found.range[0], found.range[1]] : [0, 0];
}
