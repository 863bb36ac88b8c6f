import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { darkroom } from "../../test/darkrooms";
import type { DarkroomInput, SourceInput } from "../api/types";
import { toInput } from "../model/model";
import { fromServer, messagesAt, validate } from "./validate";
import { rangeOf, read } from "../yaml/text";

const input = (part: Partial<DarkroomInput> = {}): DarkroomInput => ({ ...toInput(darkroom()), ...part });
const from = (source: SourceInput) => input({ source });

test("a Darkroom that the server takes is found fine", () => {
  for (const fine of [
    input(),
    input({ subDomains: ["a", "img.photos", "1st"] }),
    from({ type: "S3", bucket: "my_photos", region: "eu-west-2", endpoint: "http://10.0.0.1:9000", credentialsSecretRef: { name: "keys" } }),
    from({ type: "GoogleCloudStorage", bucket: "public" }),
    from({ type: "CloudFront", host: "d111.cloudfront.net:443" }),
    input({ probe: { path: "/photos/my cat ä%.jpg" } }),
    input({ probe: { path: "/.hidden/..cat.jpg", periodSeconds: 10, timeoutSeconds: 10, failureThreshold: 1 } }),
  ]) {
    expect(validate(fine)).toEqual([]);
  }
});

test.each<[string, DarkroomInput, string]>([
  ["no name", input({ name: "" }), "name"],
  ["a long name", input({ name: "a".repeat(54) }), "name"],
  ["no namespace", input({ namespace: "" }), "namespace"],
  ["one key alone", from({ type: "S3", bucket: "b", region: "r", accessKey: "a" }), "source.secretKey"],
  ["a Secret without a name", from({ type: "S3", bucket: "b", region: "r", credentialsSecretRef: { name: "" } }), "source.credentialsSecretRef.name"],
  ["no sub-domain", input({ subDomains: [] }), "subDomains"],
  ["a probe without a path", input({ probe: { path: "" } }), "probe.path"],
  ["a path of 1025 characters", input({ probe: { path: "/" + "a".repeat(1024) } }), "probe.path"],
  ["a period that is no number", input({ probe: { path: "/cat.jpg", periodSeconds: "1m" as unknown as number } }), "probe.periodSeconds"],
])("%s is found beside its field", (_, bad, location) => {
  expect(validate(bad).map((error) => error.location)).toContain(location);
});

test("a text in place of the list of sub-domains is not called an empty list", () => {
  expect(validate(input({ subDomains: "foo" as unknown as string[] }))).toEqual([{ location: "subDomains", message: "Must be a list, for example [photos]" }]);
});

test("what the server found stands beside the same fields", () => {
  const errors = fromServer([
    { location: "body.source.region", message: "Required value: needed when source.type is S3" },
    { location: "body.subDomains[1]", message: "Invalid value: must be a DNS name" },
    { message: "something else" },
  ]);
  expect(messagesAt(errors, "source.region")).toEqual(["needed when source.type is S3"]);
  expect(messagesAt(errors, "source")).toEqual(["needed when source.type is S3"]);
  expect(messagesAt(errors, "subDomains")).toEqual(["must be a DNS name"]);
  expect(errors[2]).toEqual({ location: "", message: "something else" });
});

const head = "apiVersion: deployments.example.com/v1alpha1\nkind: Darkroom\nmetadata: {name: cats, namespace: photos}\nspec:\n";

/** Errors of a text, each as what is marked and the message. */
function marked(spec: string): string[] {
  const text = head + spec;
  const result = read(text);
  if ("error" in result) {
    throw new Error(result.error.message);
  }
  return validate(result.input).map(({ location, message }) => `${text.slice(...rangeOf(result.document, location)).trim()}: ${message}`);
}

const rest = "  source: {baseUrl: https://example.com}\n  subDomains: [cats]\n";

test.each([
  ["  replicas: many\n", "many: Must be a whole number"],
  ["  replicas: 2000\n", "2000: Must be from 0 to 1000"],
  ["  replica: 1\n", "1: Unknown field replica"],
  ["  logLevel: loud\n", "loud: Must be one of debug, info, warn, error, fatal, panic"],
  ["  version: 1.0\n", "1.0: Must be a text; quote numbers, true and false"],
  ["  resources: {limits: {memory: lots}}\n", "lots: Must be a quantity, for example 500m, 2 or 256Mi"],
  ["  probe: /cat.jpg\n", "/cat.jpg: Must be an object with fields"],
  ["  probe: {periodSeconds: 60}\n", "probe: Required"],
  ["  autoscaling: [1]\n", "[1]: Must be an object with fields"],
  ["  extraEnv:\n    - {name: A, value: true}\n", "true: Must be a text; quote numbers, true and false"],
])("in YAML, %j is marked", (spec, want) => {
  expect(marked(spec + rest)).toEqual([want]);
});

test("what Kubernetes accepts is not marked", () => {
  const result = read(readFileSync(new URL("../../../config/samples/darkroom-full.yaml", import.meta.url), "utf8"));
  expect("error" in result ? result.error : validate(result.input).filter(({ location }) => location !== "namespace")).toEqual([]);
  expect(marked(`  replicas:\n  resources: {limits: {cpu: 2, memory: 256Mi}}\n${rest}status: {anything: 1}\n`)).toEqual([]);
});
