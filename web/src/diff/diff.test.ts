import { expect, test } from "vitest";
import { diffLines, hunks } from "./diff";

const signs = { same: " ", added: "+", removed: "-" };
const text = (before: string, after: string) => diffLines(before, after).map((line) => signs[line.kind] + line.text);

test.each<[string, string, string[]]>([
  ["a\nb\n", "a\nb\n", [" a", " b"]],
  ["", "a\nb\n", ["+a", "+b"]],
  ["a\n", "", ["-a"]],
  ["a\nb\nc\n", "a\nx\nc\n", [" a", "-b", "+x", " c"]],
  ["a\nb\nc\nd\n", "b\nc\ne\nd\n", ["-a", " b", " c", "+e", " d"]],
  ["a\na\n", "a\na\na\n", [" a", " a", "+a"]],
])("from %j to %j", (before, after, want) => {
  expect(text(before, after)).toEqual(want);
});

test("any two texts can be put together again from their difference", () => {
  const words = ["a", "b", "c"];
  for (let seed = 0; seed < 500; seed++) {
    const make = (n: number) => Array.from({ length: (seed * n) % 9 }, (_, i) => words[(seed * n + i * i * (n + seed)) % 3]);
    const [a, b] = [make(7), make(11)];
    const lines = diffLines(a.join("\n"), b.join("\n"));
    expect(lines.filter(({ kind }) => kind !== "added").map((line) => line.text)).toEqual(a);
    expect(lines.filter(({ kind }) => kind !== "removed").map((line) => line.text)).toEqual(b);
  }
});

test("equal lines are omitted, except near a change", () => {
  const before = Array.from({ length: 20 }, (_, i) => `line ${i}`);
  const after = before.map((line, i) => (i === 10 ? "changed" : line));
  const out = hunks(diffLines(before.join("\n"), after.join("\n")), 2);
  expect(out.map((hunk) => ("skipped" in hunk ? hunk.skipped : hunk.lines.length))).toEqual([8, 6, 7]);
});
