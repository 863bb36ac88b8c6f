import spec from "virtual:darkroom-spec";
import { apiVersion, kind } from "../model/model";

/** The part of a CRD's schema that the page uses. */
export interface Schema {
  type?: string;
  description?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  required?: string[];
  enum?: unknown[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
}

const texts: Schema = { type: "object", additionalProperties: { type: "string" } };

/** The metadata that users write. */
const metadata: Record<string, Schema> = {
  name: { type: "string", description: "Name of the Darkroom." },
  namespace: { type: "string", description: "Namespace of the Darkroom." },
  labels: { ...texts, description: "Labels of the Darkroom." },
  annotations: { ...texts, description: "Annotations of the Darkroom." },
};

/** The schema of a Darkroom as YAML. */
const darkroomSchema: Schema = {
  properties: {
    apiVersion: { type: "string", enum: [apiVersion], description: "API group and version of the resource." },
    kind: { type: "string", enum: [kind], description: "Kind of the resource." },
    metadata: { type: "object", description: "Name, namespace, labels and annotations.", required: ["name"], properties: metadata },
    spec,
    status: { type: "object", description: "Status as observed; ignored." },
  },
  required: ["apiVersion", "kind", "metadata", "spec"],
};

/** A list item in a path. */
export const item = Symbol("item");

/** The schema at a path, if there is one. */
export function schemaAt(path: readonly (string | typeof item)[]): Schema | undefined {
  let schema: Schema | undefined = darkroomSchema;
  for (const step of path) {
    schema = step === item || (schema?.items && /^\d+$/.test(step)) ? schema?.items : schema && fieldOf(schema, step);
  }
  return schema;
}

/** The help of a field of spec: bounds, default, an example, and one sentence. */
export function describeField(path: readonly string[]) {
  const schema = schemaAt(["spec", ...path]) ?? {};
  const text = (schema.description ?? "").replace(/\s+/g, " ");
  const [, first = ""] = /^\w+ (?:\([^)]*\) )?(?:(?:is|are) )?(?:the |an? )?(.*?)\.(?: |$)/.exec(text) ?? [];
  const [, usual = schema.default] = /Defaults to (\S+(?: \S+)?)\.(?: |$)/.exec(text) ?? [];
  const [, example] = /for example ([^\s,;]+?)\.?(?:[\s,;]|$)/.exec(text) ?? [];
  return { ...schema, usual: usual === undefined ? undefined : typeof usual === "string" ? usual : JSON.stringify(usual), example, help: first.charAt(0).toUpperCase() + first.slice(1) };
}

/** The schema of a field of an object. */
function fieldOf({ properties = {}, additionalProperties }: Schema, name: string): Schema | undefined {
  return Object.hasOwn(properties, name) ? properties[name] : typeof additionalProperties === "object" ? additionalProperties : undefined;
}
