/** One line of a comparison. */
export interface DiffLine {
  kind: "same" | "added" | "removed";
  text: string;
}

/**
 * The lines that lead from one text to another, by their longest common subsequence. What
 * both begin and end with is set aside first, so that the table stays small.
 */
export function diffLines(before: string, after: string): DiffLine[] {
  const [a, b] = [before, after].map((text) => (text === "" ? [] : text.replace(/\n$/, "").split("\n"))) as [string[], string[]];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) {
    head++;
  }
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) {
    tail++;
  }
  const same = (text: string): DiffLine => ({ kind: "same", text });
  return [
    ...a.slice(0, head).map(same),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...a.slice(a.length - tail).map(same),
  ];
}

function middle(a: string[], b: string[]): DiffLine[] {
  const width = b.length + 1;
  // common[i * width + j] is how many lines a from i and b from j have in common.
  const common = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const out: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push({ kind: "same", text: a[i++] ?? "" });
      j++;
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) {
      out.push({ kind: "removed", text: a[i++] ?? "" });
    } else {
      out.push({ kind: "added", text: b[j++] ?? "" });
    }
  }
  return out;
}

/** A stretch of lines, or a number of equal lines that are left out. */
export type Hunk = { lines: DiffLine[] } | { skipped: number };

/** Leaves out what is the same, but for some lines around each change. */
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
