import { isCollection, isSeq, type Document, type Node, type YAMLSeq } from "yaml";
import type { DarkroomInput } from "../api/types";
import { diffLines } from "../diff/diff";
import { differences, same } from "../model/merge";
import { valueAt, type Path } from "../model/model";
import { inManifest, read, write } from "./text";

/**
 * The text with the fields of another input. Comments, quotes and the formatting of lines
 * that do not change are kept. A text that cannot be changed so, such as one with aliases, is
 * written again.
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
  const isInput = (candidate: string): boolean => {
    const result = read(candidate);
    return !("error" in result) && same(result.input, input);
  };
  try {
    const print = () => now.document.toString(styleOf(text)).replace(emptyLineAtEnd, "\n$1");
    const before = print();
    changed.forEach((path) => setAt(now.document, path, input));
    const after = print();
    return [carryOver(text, before, after), after].find(isInput) ?? write(input);
  } catch {
    return write(input);
  }
}

/** The empty line that the library adds before a comment at the end. */
const emptyLineAtEnd = /\n\n((?:#.*\n?)+)$/;

/** How a text is indented. */
function styleOf(text: string) {
  const indent = /^( +)[^\s#-]/m.exec(text)?.[1]?.length ?? 2;
  return { lineWidth: 0, indent, indentSeq: !/^( *)[^\s#-][^#\n]*:[ \t]*(#.*)?\n\1- /m.test(text) };
}

/** Sets one field of a document to its value in the input, and removes objects that it leaves empty. */
function setAt(document: Document, path: Path, input: DarkroomInput): void {
  const to = inManifest(path);
  const value = valueAt(input, path);
  if (value === undefined) {
    document.deleteIn(to);
    for (let depth = path.length - 1; depth > 0; depth--) {
      const above = document.getIn(to.slice(0, depth + 1), true);
      if (!isCollection(above) || above.items.length > 0 || valueAt(input, path.slice(0, depth)) !== undefined) {
        return;
      }
      document.deleteIn(to.slice(0, depth + 1));
    }
    return;
  }
  for (let depth = 1; depth <= path.length; depth++) {
    const at = to.slice(0, depth + 1);
    if (depth === path.length) {
      const old = document.getIn(at, true);
      document.setIn(at, isSeq(old) && old.items.length > 0 && Array.isArray(value) ? merged(document, old, value) : value);
    } else if (!isCollection(document.getIn(at, true))) {
      // Nothing, or a value that is not an object.
      document.setIn(at, document.createNode(valueAt(input, path.slice(0, depth))));
      return;
    }
  }
}

/** A list with other items. Those that stay keep their comments. */
function merged(document: Document, old: YAMLSeq, values: unknown[]): YAMLSeq {
  const left = [...old.items] as Node[];
  old.items = values.map((value) => {
    const at = left.findIndex((item) => same(item.toJS(document), value));
    return at < 0 ? document.createNode(value) : left.splice(at, 1)[0];
  });
  return old;
}

/** The change from one text to another, made to a third that is formatted differently than the first. */
function carryOver(text: string, before: string, after: string): string {
  const [own, old, next] = [text, before, after].map((lines) => lines.trimEnd().split("\n")) as [string[], string[], string[]];
  const inOwn = matches(old.map(squeeze), own.map(squeeze));
  const inNext = matches(old, next);
  inOwn.set(old.length, own.length);
  inNext.set(old.length, next.length);
  const out: string[] = [];
  let [fromOld, fromOwn, fromNext] = [0, 0, 0];
  for (let at = 0; at <= old.length; at++) {
    const [toOwn, toNext] = [inOwn.get(at), inNext.get(at)];
    if (toOwn === undefined || toNext === undefined) {
      continue;
    }
    // The lines up to the next one that all texts have.
    const changed = next.slice(fromNext, toNext);
    out.push(...(same(old.slice(fromOld, at), changed) ? own.slice(fromOwn, toOwn) : changed), ...own.slice(toOwn, toOwn + 1));
    [fromOld, fromOwn, fromNext] = [at + 1, toOwn + 1, toNext + 1];
  }
  return out.join("\n") + "\n";
}

const squeeze = (line: string): string => line.replace(/\s/g, "");

/** Which line of one text is which of another. */
function matches(a: string[], b: string[]): Map<number, number> {
  const out = new Map<number, number>();
  let [i, j] = [0, 0];
  for (const { kind } of diffLines(a.join("\n"), b.join("\n"))) {
    if (kind === "same") {
      out.set(i, j);
    }
    i += kind === "added" ? 0 : 1;
    j += kind === "removed" ? 0 : 1;
  }
  return out;
}
