import { isAlias, isMap, isScalar, isSeq, type Document, type Node, type YAMLMap } from "yaml";
import { list } from "../words/format";
import { msg, t, type Message } from "../words/t";
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
      report(within(ofItems, minItems, maxItems), key);
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
      out.push({ from: at[0], to: at[1], message: t("Unknown field {field}", { field: name }) });
    }
  }
  for (const name of schema.required ?? []) {
    if (!names.has(name)) {
      out.push({ from: key[0], to: key[1], message: t("Missing field {field}", { field: name }) });
    }
  }
  if (node.items.length > (schema.maxProperties ?? Infinity)) {
    out.push({ from: key[0], to: key[1], message: t("Must have at most {most, plural, one {# entry} other {# entries}}", { most: schema.maxProperties ?? 0 }) });
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
    return within(ofValue, minimum, maximum);
  }
  if (typeof value === "string") {
    const length = Array.from(value).length;
    if (length < minLength || length > maxLength) {
      return within(ofCharacters, minLength, maxLength);
    }
    if (pattern && !new RegExp(pattern, "u").test(value)) {
      return schema["x-kubernetes-int-or-string"] ? t(quantity) : t("Must match {pattern}", { pattern });
    }
  }
  return undefined;
}

function hasType(value: unknown, type: string | undefined): boolean {
  return type === undefined || (type === "integer" ? Number.isInteger(value) : typeof value === type);
}

/** A value of each type. */
const types: Record<string, Message> = {
  string: msg("Must be a text; quote numbers, true and false"),
  integer: msg("Must be a whole number"),
  number: msg("Must be a number"),
  boolean: msg("Must be true or false"),
  object: msg("Must be an object with fields"),
  array: msg("Must be a list, for example [photos]"),
};
const quantity = msg("Must be a quantity, for example 500m, 2 or 256Mi");

function wanted(schema: Schema): string {
  if (schema.enum) {
    const values = list(schema.enum.map(String));
    return schema.enum.length === 1 ? t("Must be {value}", { value: values }) : t("Must be one of {values}", { values });
  }
  return t(schema["x-kubernetes-int-or-string"] ? quantity : (types[schema.type ?? ""] ?? msg("Must be of another type")));
}

/** What a number must be, by the bounds that there are. */
interface Bounds {
  least: Message;
  most: Message;
  both: Message;
}

const ofValue: Bounds = {
  least: msg("Must be at least {least}"),
  most: msg("Must be at most {most}"),
  both: msg("Must be from {least} to {most}"),
};
const ofItems: Bounds = {
  least: msg("Must have at least {least, plural, one {# item} other {# items}}"),
  most: msg("Must have at most {most, plural, one {# item} other {# items}}"),
  both: msg("Must have from {least} to {most, plural, one {# item} other {# items}}"),
};
const ofCharacters: Bounds = {
  least: msg("Must have at least {least, plural, one {# character} other {# characters}}"),
  most: msg("Must have at most {most, plural, one {# character} other {# characters}}"),
  both: msg("Must have from {least} to {most, plural, one {# character} other {# characters}}"),
};

const within = (words: Bounds, least: number, most: number): string =>
  t(most === Infinity ? words.least : least === -Infinity ? words.most : words.both, { least, most });
