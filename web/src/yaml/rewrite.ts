import { isSeq, type Document, type Node, type YAMLSeq } from "yaml";
import type { DarkroomInput } from "../api/types";
import { differences, same } from "../model/merge";
import { valueAt, type Path } from "../model/model";
import { inManifest, read, write } from "./text";

/**
 * The text with the fields of another input. Comments and quotes are kept. A text that cannot be changed so, such as
 * one with aliases, is written again.
 */
export function rewrite(text: string, input: DarkroomInput): string {
  const now = read(text);
  if ("error" in now) {
    return write(input);
  }
  const changed = differences([], now.input, input);
  if (changed.length === 0) {
    return text;
  }
  try {
    changed.forEach((path) => setAt(now.document, path, input));
    const after = now.document.toString(styleOf(text)).replace(emptyLineAtEnd, "\n$1");
    const result = read(after);
    return "error" in result || !same(result.input, input) ? write(input) : after;
  } catch {
    return write(input);
  }
}

/** The empty line that the library adds before a comment at the end. */
const emptyLineAtEnd = /\n\n((?:#.*\n?)+)$/;

/** The indentation of a text, and whether its brackets have spaces inside. */
function styleOf(text: string) {
  const indent = /^( +)[^\s#-]/m.exec(text)?.[1]?.length ?? 2;
  const indentSeq = !/^( *)[^\s#-][^#\n]*:[ \t]*(#.*)?\n\1- /m.test(text);
  return { lineWidth: 0, indent, indentSeq, flowCollectionPadding: !/[{[][^\s\]}]/.test(text) };
}

/** Sets one field of a document to its value in the input, or removes it with the objects that the input lacks, too. */
function setAt(document: Document, path: Path, input: DarkroomInput): void {
  const missing = path.findIndex((_, depth) => valueAt(input, path.slice(0, depth + 1)) === undefined);
  if (missing >= 0) {
    document.deleteIn(inManifest(path.slice(0, missing + 1)));
    return;
  }
  const [to, value] = [inManifest(path), valueAt(input, path)];
  const old = document.getIn(to, true);
  document.setIn(to, isSeq(old) && old.items.length > 0 && Array.isArray(value) ? merged(document, old, value) : value);
}

/** Updates a list. Remaining items keep their comments. */
function merged(document: Document, old: YAMLSeq, values: unknown[]): YAMLSeq {
  const left = [...old.items] as Node[];
  old.items = values.map((value) => {
    const at = left.findIndex((item) => same(item.toJS(document), value));
    return at < 0 ? document.createNode(value) : left.splice(at, 1)[0];
  });
  return old;
}
