import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { isMap, parseDocument } from "yaml";
import { item, schemaAt, type Schema } from "./schema";

type Path = (string | typeof item)[];

/** A key in a line of block style: its column, and the columns of the dashes before it. */
const keyLine = /^(\s*(?:-\s+)*)(["']?)([\w./-]+)\2\s*:(?:\s|$)/;

/**
 * Completes the names and the values of fields in block style, as kubectl writes it. codemirror-json-schema brings a
 * validator, a Markdown renderer and a highlighter for it; here the server validates.
 */
export function complete(context: CompletionContext): CompletionResult | null {
  const { doc } = context.state;
  const line = doc.lineAt(context.pos);
  const typed = line.text.slice(0, context.pos - line.from);
  const lines = doc.toString().split("\n");
  const above = lines.slice(0, line.number - 1);

  const value = /^(\s*(?:-\s+)*)([\w./-]+):\s+([\w./-]*)$/.exec(typed);
  if (value) {
    const [, before, name, part] = value as unknown as [string, string, string, string];
    const schema = schemaAt([...pathAt(above, before), name]);
    return schema ? { from: context.pos - part.length, options: valuesOf(schema), validFor: /^[\w./-]*$/ } : null;
  }
  const key = /^(\s*(?:-\s+)*)([\w./-]*)$/.exec(typed);
  if (!key || !(context.explicit || key[2])) {
    return null;
  }
  const [, before, part] = key as unknown as [string, string, string];
  const path = pathAt(above, before);
  const schema = schemaAt(path);
  if (!schema?.properties) {
    return null;
  }
  const taken = namesAt(lines.toSpliced(line.number - 1, 1).join("\n"), path);
  const options = Object.entries(schema.properties)
    .filter(([name]) => !taken.includes(name))
    .map(([name, field]) => keyOption(name, field, before.length, schema.required?.includes(name) ?? false));
  return { from: context.pos - part.length, options, validFor: /^[\w./-]*$/ };
}

/** The path of the object that contains a key with the given indentation and dashes. */
export function pathAt(above: readonly string[], before: string): Path {
  const path: Path = [];
  // The key of a list may be in the same column as the dashes.
  const at = { column: before.length, inList: false };
  const takeDashes = (start: string) => {
    for (let dash = start.lastIndexOf("-"); dash >= 0; dash = dash === 0 ? -1 : start.lastIndexOf("-", dash - 1)) {
      if (dash < at.column) {
        path.unshift(item);
        Object.assign(at, { column: dash, inList: true });
      }
    }
  };
  takeDashes(before);
  for (const line of above.toReversed()) {
    const [, start = "", , name = ""] = keyLine.exec(line) ?? [];
    if (name && (start.length < at.column || (at.inList && start.length === at.column))) {
      path.unshift(name);
      Object.assign(at, { column: start.length, inList: false });
    }
    takeDashes(name ? start : (/^\s*(?:-\s+)*/.exec(line)?.[0] ?? ""));
  }
  return path;
}

/** The names of an object's fields in a text. Its path does not show in which list item it is. */
function namesAt(text: string, path: Path): string[] {
  const found = path.includes(item) ? undefined : parseDocument(text).getIn(path);
  return isMap(found) ? found.items.map(({ key }) => String(key)) : [];
}

const describe = ({ description = "" }: Schema): string => description.replace(/\s*\n\s*/g, " ");

function keyOption(name: string, field: Schema, column: number, required: boolean): Completion {
  const inner = "\n" + " ".repeat(column + 2);
  const after = field.type === "object" ? `:${inner}` : field.type === "array" ? `:${inner}- ` : ": ";
  return { label: name, detail: required ? "required" : field.type, info: describe(field), apply: name + after, type: "property", boost: required ? 1 : 0 };
}

function valuesOf(schema: Schema): Completion[] {
  const values = schema.enum ?? (schema.type === "boolean" ? [true, false] : schema.default === undefined ? [] : [schema.default]);
  return values
    .filter((value) => typeof value !== "object")
    .map((value) => ({
      // Strings that YAML would parse as another type.
      label: typeof value === "string" && /^(true|false|null|[\d.+-].*|)$/i.test(value) ? JSON.stringify(value) : String(value),
      detail: value === schema.default ? "default" : undefined,
      info: describe(schema),
      type: "constant",
    }));
}
