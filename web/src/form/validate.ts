import type { Darkroom, DarkroomInput, FieldProblem } from "../api/types";
import { isObject, movesKeys, type Path } from "../model/model";
import { list, plural } from "../words/format";
import { fieldOf, inputSchema, type Schema } from "../yaml/schema";

/** Where a problem is, such as source.bucket or subDomains.0, and what it is. */
export interface FieldError {
  location: string;
  message: string;
}

type Report = (path: Path, message: string) => void;

/**
 * Checks an input by the types and bounds of the CRD's schema, for the form and its YAML. Its rules are left to the
 * server (useChecked). Keys that would reach another endpoint must be entered again.
 */
export function validate(input: DarkroomInput, loaded?: Darkroom): FieldError[] {
  const out: FieldError[] = [];
  const report: Report = (path, message) => out.push({ location: path.join("."), message });
  checkValue(input, inputSchema, [], report);
  const { accessKey, secretKey } = input.source;
  if (Boolean(accessKey) !== Boolean(secretKey)) {
    report(["source", accessKey ? "secretKey" : "accessKey"], "Enter both the access key and the secret key");
  }
  if (movesKeys(input, loaded)) {
    report(["source", "accessKey"], "Enter the keys again: the endpoint has changed, and the current keys would be sent to it");
  }
  return out;
}

/** Null means omitted, as in the REST API. */
const isSet = (value: unknown): boolean => value !== undefined && value !== null;

function checkValue(value: unknown, schema: Schema, path: Path, report: Report): void {
  if (!isSet(value)) {
    return;
  }
  const wrong = wrongWith(value, schema);
  if (wrong !== undefined) {
    report(path, wrong);
  } else if (Array.isArray(value)) {
    value.forEach((inner, at) => checkValue(inner, schema.items ?? {}, [...path, String(at)], report));
  } else if (isObject(value)) {
    checkFields(value, schema, path, report);
  }
}

function checkFields(value: Record<string, unknown>, schema: Schema, path: Path, report: Report): void {
  for (const name of schema.required ?? []) {
    if (!isSet(value[name])) {
      report([...path, name], "Required");
    }
  }
  for (const [name, inner] of Object.entries(value)) {
    const field = fieldOf(schema, name);
    if (field) {
      checkValue(inner, field, [...path, name], report);
    } else if (!schema.additionalProperties) {
      report([...path, name], `Unknown field ${name}`);
    }
  }
}

/** What is wrong with a value itself; undefined if nothing is. */
function wrongWith(value: unknown, schema: Schema): string | undefined {
  const { minimum = -Infinity, maximum = Infinity, minLength = 0, maxLength = Infinity, minItems = 0, maxItems = Infinity, maxProperties = Infinity } = schema;
  if (!hasType(value, schema) || (schema.enum && !schema.enum.includes(value))) {
    return wanted(schema);
  }
  if (typeof value === "number" && (value < minimum || value > maximum)) {
    return within("be", minimum, maximum);
  }
  if (Array.isArray(value) && (value.length < minItems || value.length > maxItems)) {
    return value.length === 0 ? "Enter at least one" : within("have", minItems, maxItems, "item");
  }
  if (isObject(value) && Object.keys(value).length > maxProperties) {
    return `Must have at most ${plural(maxProperties, "entry", "entries")}`;
  }
  if (typeof value !== "string") {
    return undefined;
  }
  const length = Array.from(value).length;
  if (length < minLength || length > maxLength) {
    return length === 0 ? "Required" : within("have", minLength, maxLength, "character");
  }
  if (schema.pattern && !new RegExp(schema.pattern, "u").test(value)) {
    return schema["x-kubernetes-int-or-string"] ? quantity : `Must match ${schema.pattern}`;
  }
  return undefined;
}

function hasType(value: unknown, { type, "x-kubernetes-int-or-string": isQuantity }: Schema): boolean {
  if (isQuantity) {
    return ["string", "number"].includes(typeof value);
  }
  switch (type) {
    case undefined:
      return true;
    case "integer":
      return Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    default:
      return typeof value === type;
  }
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
    return `Must be one of ${list(schema.enum.map(String))}`;
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

/** Errors of the server, at the locations of the form: body.subDomains[0] is subDomains.0. */
export const fromServer = (errors: readonly FieldProblem[]): FieldError[] =>
  errors.map(({ location = "", message }) => ({ location: location.replace(/^body\.?/, "").replace(/\[(\w+)\]/g, ".$1"), message: plain(message) }));

/** Removes the prefixes of Kubernetes. */
const plain = (message: string): string => message.replace(/^(Invalid value|Required value|Unsupported value|Duplicate value|Not found): /, "");

/** The messages of a field, and of what lies within it. */
export const messagesAt = (errors: readonly FieldError[], location: string): string[] =>
  errors.filter((error) => error.location === location || error.location.startsWith(location + ".")).map((error) => error.message);
