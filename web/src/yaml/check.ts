import { isAlias, isMap, isScalar, isSeq, type Document, type Node, type YAMLMap } from "yaml";
import { list, plural } from "../words/format";
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
      report(within("have", minItems, maxItems, "item"), key);
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
    out.push({ from: key[0], to: key[1], message: `Must have at most ${plural(schema.maxProperties ?? 0, "entry", "entries")}` });
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
    return within("be", minimum, maximum);
  }
  if (typeof value === "string") {
    const length = Array.from(value).length;
    if (length < minLength || length > maxLength) {
      return within("have", minLength, maxLength, "character");
    }
    if (pattern && !new RegExp(pattern, "u").test(value)) {
      return schema["x-kubernetes-int-or-string"] ? quantity : `Must match ${pattern}`;
    }
  }
  return undefined;
}

function hasType(value: unknown, type: string | undefined): boolean {
  return type === undefined || (type === "integer" ? Number.isInteger(value) : typeof value === type);
}

/** A value of each type. */
const types: Record<string, string> = {
  string: "Must be a text; quote numbers, true and false",
  integer: "Must be a whole number",
  number: "Must be a number",
  boolean: "Must be true or false",
  object: "Must be an object with fields",
  array: "Must be a list, for example [photos]",
};
const quantity = "Must be a quantity, for example 500m, 2 or 256Mi";

function wanted(schema: Schema): string {
  if (schema.enum) {
    const values = list(schema.enum.map(String));
    return schema.enum.length === 1 ? `Must be ${values}` : `Must be one of ${values}`;
  }
  return schema["x-kubernetes-int-or-string"] ? quantity : (types[schema.type ?? ""] ?? "Must be of another type");
}

/** What a value must be or have, by the bounds that there are. */
function within(verb: string, least: number, most: number, unit = ""): string {
  const count = (n: number) => (unit ? plural(n, unit) : String(n));
  if (most === Infinity) {
    return `Must ${verb} at least ${count(least)}`;
  }
  return least === -Infinity ? `Must ${verb} at most ${count(most)}` : `Must ${verb} from ${least} to ${count(most)}`;
}
