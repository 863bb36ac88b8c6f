import { isAlias, isMap, isScalar, isSeq, type Document, type Node, type YAMLMap } from "yaml";
import { darkroomSchema, fieldOf, type Schema } from "./schema";
import type { Finding } from "./text";

/** What the schema of the resource does not allow in a document. */
export function check(document: Document.Parsed): Finding[] {
  const out: Finding[] = [];
  checkNode(document.contents, darkroomSchema, rangeOf(document.contents, [0, 0]), out);
  return out;
}

type Range = [from: number, to: number];

const rangeOf = (node: unknown, otherwise: Range): Range => {
  const range = (node as Node | null)?.range;
  return range ? [range[0], range[1]] : otherwise;
};

/** Checks a value. What it lacks is reported at its key. */
function checkNode(node: unknown, schema: Schema, key: Range, out: Finding[]): void {
  // Null means omitted, as in the REST API. Aliases are checked where their anchor is.
  if (!node || isAlias(node) || (isScalar(node) && node.value === null)) {
    return;
  }
  const report = (message: string, [from, to] = rangeOf(node, key)) => out.push({ from, to, message });
  if (isMap(node)) {
    if (schema.type !== "object") {
      report(wanted(schema), key);
    } else {
      checkMap(node, schema, key, out);
    }
  } else if (isSeq(node)) {
    if (schema.type !== "array") {
      report(wanted(schema), key);
      return;
    }
    const { minItems = 0, maxItems = Infinity, items } = schema;
    if (node.items.length < minItems || node.items.length > maxItems) {
      report(`Must have ${bounds(minItems, maxItems)} items`, key);
    }
    if (items) {
      node.items.forEach((inner) => checkNode(inner, items, rangeOf(inner, key), out));
    }
  } else if (isScalar(node)) {
    const wrong = wrongWith(node.value, schema);
    if (wrong) {
      report(wrong);
    }
  }
}

function checkMap(node: YAMLMap, schema: Schema, key: Range, out: Finding[]): void {
  const names = new Set<string>();
  for (const pair of node.items) {
    const at = rangeOf(pair.key, key);
    const name = String(isScalar(pair.key) ? pair.key.value : pair.key);
    names.add(name);
    const field = fieldOf(schema, name);
    if (field) {
      checkNode(pair.value, field, at, out);
    } else if (!schema.additionalProperties) {
      out.push({ from: at[0], to: at[1], message: `Unknown field ${name}` });
    }
  }
  for (const name of schema.required ?? []) {
    if (!names.has(name)) {
      out.push({ from: key[0], to: key[1], message: `Missing field ${name}` });
    }
  }
  if (node.items.length > (schema.maxProperties ?? Infinity)) {
    out.push({ from: key[0], to: key[1], message: `Must have at most ${schema.maxProperties ?? 0} entries` });
  }
}

function wrongWith(value: unknown, schema: Schema): string | undefined {
  const { type, minimum = -Infinity, maximum = Infinity, minLength = 0, maxLength = Infinity, pattern } = schema;
  if (schema["x-kubernetes-int-or-string"] ? !["string", "number"].includes(typeof value) : !hasType(value, type)) {
    return wanted(schema);
  }
  if (schema.enum && !schema.enum.includes(value)) {
    return wanted(schema);
  }
  if (typeof value === "number" && (value < minimum || value > maximum)) {
    return `Must be ${bounds(minimum, maximum)}`;
  }
  if (typeof value === "string") {
    const length = Array.from(value).length;
    if (length < minLength || length > maxLength) {
      return `Must have ${bounds(minLength, maxLength)} characters`;
    }
    if (pattern && !new RegExp(pattern, "u").test(value)) {
      return schema["x-kubernetes-int-or-string"] ? "Must be a quantity, for example 500m, 2 or 256Mi" : `Must match ${pattern}`;
    }
  }
  return undefined;
}

function hasType(value: unknown, type: string | undefined): boolean {
  return type === undefined || (type === "integer" ? Number.isInteger(value) : typeof value === type);
}

const names: Record<string, string> = {
  string: "a text; quote numbers, true and false",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  object: "an object with fields",
  array: "a list, for example [photos]",
};

function wanted(schema: Schema): string {
  if (schema.enum) {
    return schema.enum.length === 1 ? `Must be ${String(schema.enum[0])}` : `Must be one of ${schema.enum.join(", ")}`;
  }
  return `Must be ${schema["x-kubernetes-int-or-string"] ? "a quantity, for example 500m, 2 or 256Mi" : (names[schema.type ?? ""] ?? "of another type")}`;
}

function bounds(least: number, most: number): string {
  return most === Infinity ? `at least ${least}` : least === -Infinity ? `at most ${most}` : `from ${least} to ${most}`;
}
