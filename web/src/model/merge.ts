import type { DarkroomInput } from "../api/types";
import { isObject, valueAt, withValue, type Path } from "./model";

/** A field that both sides changed, to different values. */
export interface Clash {
  path: Path;
  base: unknown;
  theirs: unknown;
  mine: unknown;
}

export interface Merged {
  /** Both changes merged. Conflicting fields have the user's own value. */
  input: DarkroomInput;
  /** Fields that only the other user changed. */
  taken: Path[];
  clashes: Clash[];
}

export const same = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b);

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => a.localeCompare(b))) : inner,
  );
}

/** The fields that differ between any of the values. Lists count as one field. */
export function differences(path: Path, ...values: unknown[]): Path[] {
  const [first, ...others] = values;
  if (others.every((other) => same(first, other))) {
    return [];
  }
  const objects = values.filter(isObject);
  if (objects.length > 0 && values.every((value) => value === undefined || isObject(value))) {
    const keys = new Set(objects.flatMap((object) => Object.keys(object)));
    return [...keys].flatMap((key) => differences([...path, key], ...values.map((value) => (isObject(value) ? value[key] : undefined))));
  }
  return [path];
}

/** Merges the changes of two users to the same base. */
export function merge(base: DarkroomInput, theirs: DarkroomInput, mine: DarkroomInput): Merged {
  const out: Merged = { input: mine, taken: [], clashes: [] };
  for (const path of differences([], base, theirs, mine)) {
    const [was, their, my] = [base, theirs, mine].map((input) => valueAt(input, path));
    if (same(their, my) || same(their, was)) {
      continue;
    }
    if (same(my, was)) {
      out.input = withValue(out.input, path, their);
      out.taken.push(path);
    } else {
      out.clashes.push({ path, base: was, theirs: their, mine: my });
    }
  }
  return out;
}

/** A value for comparison. */
export function show(value: unknown): string {
  if (value === undefined) {
    return "not set";
  }
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) {
    return value.join(", ");
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}
