import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { darkroom } from "../../test/darkrooms";
import type { DarkroomInput, SourceInput } from "../api/types";
import { toInput, valueAt } from "../model/model";
import { fromServer, messagesAt, probeBounds, validate } from "./validate";

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
  ["a name with a capital", input({ name: "Cats" }), "name"],
  ["a name that begins with a digit", input({ name: "1cats" }), "name"],
  ["a long name", input({ name: "a".repeat(54) }), "name"],
  ["no namespace", input({ namespace: "" }), "namespace"],
  ["no URL", from({ type: "WebFolder" }), "source.baseUrl"],
  ["a URL with a query", from({ type: "WebFolder", baseUrl: "https://example.com/?a" }), "source.baseUrl"],
  ["a URL without a scheme", from({ type: "WebFolder", baseUrl: "example.com" }), "source.baseUrl"],
  ["no bucket", from({ type: "S3", region: "r" }), "source.bucket"],
  ["no region", from({ type: "S3", bucket: "b" }), "source.region"],
  ["one key alone", from({ type: "S3", bucket: "b", region: "r", accessKey: "a" }), "source.secretKey"],
  ["a Secret without a name", from({ type: "S3", bucket: "b", region: "r", credentialsSecretRef: { name: "" } }), "source.credentialsSecretRef.name"],
  ["a host with a scheme", from({ type: "CloudFront", host: "https://d111.cloudfront.net" }), "source.host"],
  ["no sub-domain", input({ subDomains: [] }), "subDomains"],
  ["a bad sub-domain", input({ subDomains: ["fine", "-bad"] }), "subDomains"],
  ["more pods at least than at most", input({ autoscaling: { minReplicas: 3, maxReplicas: 2 } }), "autoscaling.minReplicas"],
  ["a probe without a path", input({ probe: { path: "" } }), "probe.path"],
  ["the URL of an image", input({ probe: { path: "https://example.com/cat.jpg" } }), "probe.path"],
  ["a path with parameters", input({ probe: { path: "/cat.jpg?w=1" } }), "probe.path"],
  ["a path with a line break", input({ probe: { path: "/cat\n.jpg" } }), "probe.path"],
  ["a path with an empty segment", input({ probe: { path: "/a//cat.jpg" } }), "probe.path"],
  ["a path that leads up", input({ probe: { path: "/a/.." } }), "probe.path"],
  ["a path that needs no image", input({ probe: { path: "/ping" } }), "probe.path"],
  ["a path of 1025 bytes", input({ probe: { path: "/" + "ä".repeat(512) } }), "probe.path"],
  ["a timeout beyond the period", input({ probe: { path: "/cat.jpg", periodSeconds: 20, timeoutSeconds: 30 } }), "probe.timeoutSeconds"],
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

test("the bounds of a probe are those of the CRD", () => {
  const crd: unknown = parse(readFileSync(join(import.meta.dirname, "../../../config/crd/bases/deployments.example.com_darkrooms.yaml"), "utf8"));
  const version = (valueAt(crd, ["spec", "versions"]) as unknown[])[0];
  const fields = valueAt(version, "schema.openAPIV3Schema.properties.spec.properties.probe.properties".split(".")) as Record<
    string,
    { minimum?: number; maximum?: number }
  >;
  const bounds = Object.entries(fields)
    .filter(([, { minimum }]) => minimum !== undefined)
    .map(([name, { minimum, maximum }]) => [name, [minimum, maximum]]);
  expect(probeBounds).toEqual(Object.fromEntries(bounds));
});
