import fc from "fast-check";
import type { Darkroom, DarkroomInput } from "../src/api/types";

/** Texts of any kind, including texts that YAML would read as something else. */
const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 20 }),
  fc.constantFrom("true", "null", "~", "1", "0x1f", "1e3", "yes", "- a", "a: b", "# no comment", "a #b", "'", '"', "{", "[a]", "*x", "&x", "!t", "|", ">", "%", "@", "---", "", " ", "a\nb", "a\n\n", "\ta"),
);
const name = fc.stringMatching(/^[a-z][-a-z0-9]{0,8}[a-z0-9]$/);
const key = fc.oneof(name, fc.constantFrom("app.kubernetes.io/name", "a.b", "on", "1", "null"));
const texts = fc.dictionary(key, text, { minKeys: 1, maxKeys: 3, noNullPrototype: true });
const quantity = fc.constantFrom<string | number>("500m", "256Mi", 2, 0.5);

const source = fc.oneof(
  fc.record({ type: fc.constant("WebFolder" as const), baseUrl: text }, { requiredKeys: ["baseUrl"] }),
  fc.record(
    {
      type: fc.constant("S3" as const),
      bucket: text,
      region: text,
      endpoint: text,
      pathPrefix: text,
      accessKey: text,
      secretKey: text,
      credentialsSecretRef: fc.record({ name, accessKeyKey: text }, { requiredKeys: ["name"] }),
    },
    { requiredKeys: ["type", "bucket"] },
  ),
);

/** Darkrooms with fields of every shape: texts, numbers, objects, maps, lists and lists of objects. */
export const inputs: fc.Arbitrary<DarkroomInput> = fc.record(
  {
    name,
    namespace: name,
    labels: texts,
    annotations: texts,
    source,
    subDomains: fc.array(fc.oneof(name, text), { maxLength: 4 }),
    replicas: fc.integer({ min: -5, max: 2000 }),
    version: text,
    logLevel: fc.constantFrom("debug", "info", "warn"),
    probe: fc.record({ path: text, periodSeconds: fc.integer() }, { requiredKeys: ["path"] }),
    defaultParams: texts,
    extraEnv: fc.array(fc.record({ name, value: text }, { requiredKeys: ["name"] }), { minLength: 1, maxLength: 3 }),
    resources: fc.record({ limits: fc.dictionary(fc.constantFrom("cpu", "memory"), quantity, { minKeys: 1, noNullPrototype: true }) }),
    podTemplate: fc.record({ nodeSelector: texts, annotations: texts }, { requiredKeys: ["nodeSelector"] }),
    metrics: fc.record({ enabled: fc.boolean() }),
  },
  { requiredKeys: ["name", "namespace", "source", "subDomains"] },
);

/** Paths of images, as users type them. */
export const paths = fc.oneof(text, fc.constantFrom("images/cat.jpg", "/a b/c.jpg", "//x", "/\ud800", "http://x/y.jpg", "/%zz", "/a?b#c"));

const host = fc.oneof(name, text, fc.constantFrom("[", "a b", "%ff", "x:y", "xn--", "cats.example.com", "//"));
const time = fc.oneof(text, fc.constantFrom("2026-01-01T00:00:00Z", "yesterday", "9999-99-99"));
const condition = fc.record(
  {
    type: fc.oneof(text, fc.constantFrom("Ready", "SourceReady", "DomainsReady", "Deployed", "constructor")),
    status: fc.oneof(text, fc.constantFrom("True", "False", "Unknown")),
    reason: fc.oneof(text, fc.constantFrom("ImageNotFound", "toString", "DomainConflict")),
    message: text,
    lastTransitionTime: time,
  },
  { requiredKeys: ["type", "status"] },
);

/** Darkrooms as a server of another version, or a manual edit of the status, might return them. */
export const oddDarkrooms: fc.Arbitrary<Darkroom> = fc
  .tuple(
    inputs,
    fc.record({ uid: name, resourceVersion: text, generation: fc.integer(), createdAt: time, deletedAt: time }, { requiredKeys: [] }),
    fc.record(
      {
        phase: fc.oneof(text, fc.constantFrom("Ready", "Degraded", "Failed", "Deploying", "constructor")),
        message: text,
        domains: fc.array(host, { maxLength: 3 }),
        url: fc.oneof(host, fc.webUrl()),
        version: text,
        pods: text,
        replicas: fc.integer(),
        readyReplicas: fc.integer(),
        observedGeneration: fc.integer(),
        conditions: fc.array(condition, { maxLength: 4 }),
      },
      { requiredKeys: ["domains", "replicas", "readyReplicas"] },
    ),
  )
  .map(([input, meta, status]) => ({ ...input, ...meta, status }) as Darkroom);
