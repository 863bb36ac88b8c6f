import { diffArrays } from "diff";

/** One line of a comparison. */
export interface DiffLine {
  kind: "same" | "added" | "removed";
  text: string;
}

/** The line-by-line differences between two texts. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [a, b] = [before, after].map((text) => (text === "" ? [] : text.replace(/\n$/, "").split("\n"))) as [string[], string[]];
  return diffArrays(a, b).flatMap(({ value, added, removed }) => value.map((text): DiffLine => ({ kind: added ? "added" : removed ? "removed" : "same", text })));
}

/** A stretch of lines, or a number of equal lines that are omitted. */
export type Hunk = { lines: DiffLine[] } | { skipped: number };

/** Omits equal lines, except for some context around each change. */
export function hunks(lines: DiffLine[], around = 3): Hunk[] {
  const near = lines.map(() => false);
  lines.forEach((line, at) => {
    if (line.kind !== "same") {
      near.fill(true, Math.max(0, at - around), at + around + 1);
    }
  });
  const out: Hunk[] = [];
  lines.forEach((line, at) => {
    const last = out[out.length - 1];
    if (near[at]) {
      if (last && "lines" in last) {
        last.lines.push(line);
      } else {
        out.push({ lines: [line] });
      }
    } else if (last && "skipped" in last) {
      last.skipped++;
    } else {
      out.push({ skipped: 1 });
    }
  });
  return out;
}
