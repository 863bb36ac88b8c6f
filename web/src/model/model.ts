import { sourceTypes, type Darkroom, type DarkroomInput, type Source, type SourceType } from "../api/types";

/** The type of a source; the default is a web folder. */
export const typeOf = ({ type }: Pick<Source, "type">): SourceType => sourceTypes.find((known) => known === type) ?? "WebFolder";

/** A Darkroom as the body of a write that changes nothing. */
export function toInput(darkroom: Darkroom): DarkroomInput {
  const { uid, resourceVersion, etag, generation, createdAt, deletedAt, status, ...wanted } = structuredClone(darkroom);
  const { credentials, ...source } = wanted.source;
  const additionalSources = wanted.additionalSources?.map(({ credentials: _, ...rest }) => rest);
  return { ...wanted, source, ...(additionalSources ? { additionalSources } : {}) };
}

/** The fields of a Darkroom with values that the API does not show. */
export function hiddenOf({ source, additionalSources = [], extraEnv = [] }: Darkroom): string[] {
  const sources = [["source", source] as const, ...additionalSources.map((other, at) => [`additionalSources.${at}`, other] as const)];
  const keys = sources.filter(([, { credentials }]) => credentials === "inline").flatMap(([name]) => [`${name}.accessKey`, `${name}.secretKey`]);
  return [...keys, ...extraEnv.filter(({ valueFrom }) => !valueFrom).map(({ name }) => `extraEnv.${name}`)];
}

/** The initial values of a new Darkroom, with a gate. */
export const emptyInput = (namespace: string): DarkroomInput => ({
  name: "",
  namespace,
  source: { type: "WebFolder" },
  subDomains: [],
  replicas: 1,
  gate: {},
});

export const apiVersion = "deployments.example.com/v1alpha1";
export const kind = "Darkroom";

/** The resource, as kubectl would apply it. */
export function toManifest(input: DarkroomInput): Record<string, unknown> {
  const { name, namespace, labels, annotations, ...spec } = input;
  return prune({ apiVersion, kind, metadata: { name, namespace, labels, annotations }, spec }) as Record<string, unknown>;
}

/** The opposite of toManifest. Fields that only the cluster writes are ignored. */
export function fromManifest(manifest: unknown): DarkroomInput {
  if (!isObject(manifest)) {
    throw new Error("The YAML must be one resource, with apiVersion, kind, metadata and spec");
  }
  if (manifest["kind"] !== kind || manifest["apiVersion"] !== apiVersion) {
    throw new Error(`The YAML must be a resource of kind ${kind} and apiVersion ${apiVersion}`);
  }
  for (const field of Object.keys(manifest)) {
    if (!["apiVersion", "kind", "metadata", "spec", "status"].includes(field)) {
      throw new Error(`The YAML has an unknown field ${field}`);
    }
  }
  const metadata = isObject(manifest["metadata"]) ? manifest["metadata"] : {};
  const spec = isObject(manifest["spec"]) ? manifest["spec"] : {};
  const { name = "", namespace = "", labels, annotations } = metadata;
  const source = isObject(spec["source"]) ? spec["source"] : {};
  return prune({ subDomains: [], ...spec, name, namespace, labels, annotations, source }) as DarkroomInput;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Removes undefined values. */
function prune(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(prune);
  }
  if (!isObject(value)) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .map(([key, inner]) => [key, prune(inner)]),
  );
}

export type Path = readonly string[];

/** The value at a path, such as ["source", "bucket"] or ["subDomains", "0"]. */
export function valueAt(input: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, key) => (Array.isArray(value) ? value[Number(key)] : isObject(value) ? value[key] : undefined), input);
}

/** The input with another value at a path. Undefined removes it, and objects that it leaves empty; items of lists stay. */
export function withValue<T>(input: T, path: Path, value: unknown): T {
  const [key, ...rest] = path;
  if (key === undefined) {
    return value as T;
  }
  if (Array.isArray(input)) {
    return input.map((inner: unknown, at) => (at === Number(key) ? withValue(inner, rest, value) : inner)) as T;
  }
  const out: Record<string, unknown> = { ...(isObject(input) ? input : {}) };
  const inner = withValue(out[key], rest, value);
  if (inner === undefined || (rest.length > 0 && isObject(inner) && Object.keys(inner).length === 0)) {
    // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- it is a copy
    delete out[key];
  } else {
    out[key] = inner;
  }
  return out as T;
}

/** Whether a source supports inline keys. */
export const takesKeys = (source: unknown): boolean => isObject(source) && source["type"] === "S3" && !source["credentialsSecretRef"] && !source["auth"];

/**
 * Whether inline keys of the stored Darkroom would be sent to a different endpoint than the one for which they were
 * entered. Keys that a write omits are unchanged.
 */
export const movesKeys = ({ source }: DarkroomInput, loaded: Darkroom | undefined): boolean =>
  loaded?.source.credentials === "inline" &&
  takesKeys(source) &&
  !source.accessKey &&
  (source.endpoint ?? "") !== (loaded.source.endpoint ?? "");
