import type { Darkroom, DarkroomInput, FieldProblem } from "../api/types";
import { typeOf, isObject, movesKeys } from "../model/model";
import { plural } from "../words/format";

/** Where a problem is, such as source.bucket, and what it is. */
export interface FieldError {
  location: string;
  message: string;
}

const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const url = /^https?:\/\/([^/?#@:\s]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(\/[^?#\s]*)?$/;

export const isSubDomain = (text: string): boolean => text.length <= 190 && text.split(".").every((part) => label.test(part));

/**
 * Checks that need no server. They are never stricter than those of the server, but for keys
 * that would reach another endpoint: those must be entered again.
 */
export function validate(input: DarkroomInput, loaded?: Darkroom): FieldError[] {
  const out: FieldError[] = [];
  const must = (fine: boolean, location: string, message: string) => {
    if (!fine) {
      out.push({ location, message });
    }
  };
  const name = input.name ?? "";
  must(name !== "", "name", "Enter a name, for example photos");
  must(name === "" || /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name), "name", "Must start with a letter and contain only lower-case letters, digits and '-'");
  must(name.length <= 53, "name", `Must have at most ${plural(53, "character")}`);
  must(label.test(input.namespace ?? ""), "namespace", "Must be the name of a namespace: lower-case letters, digits and '-'");

  const { source } = input;
  switch (typeOf(source)) {
    case "WebFolder":
      must(Boolean(source.baseUrl), "source.baseUrl", "Enter a URL, for example https://example.com/images");
      must(!source.baseUrl || url.test(source.baseUrl), "source.baseUrl", "Must be an http or https URL without user, query or fragment");
      break;
    case "S3":
      must(Boolean(source.region), "source.region", "Enter a region, for example eu-west-2");
      must(!source.endpoint || url.test(source.endpoint), "source.endpoint", "Must be an http or https URL, for example https://minio.example.com:9000");
      must(Boolean(source.accessKey) === Boolean(source.secretKey), source.accessKey ? "source.secretKey" : "source.accessKey", "Enter both the access key and the secret key");
      must(!movesKeys(input, loaded), "source.accessKey", "Enter the keys again: the endpoint has changed, and the current keys would be sent to it");
      checkBucket(must, source.bucket);
      break;
    case "GoogleCloudStorage":
      checkBucket(must, source.bucket);
      break;
    case "CloudFront":
      must(Boolean(source.host), "source.host", "Enter a host, for example d111111abcdef8.cloudfront.net");
      must(!source.host || /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$/.test(source.host), "source.host", "Must be a host name, without https:// or a path");
      break;
  }
  if (source.credentialsSecretRef) {
    must(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(source.credentialsSecretRef.name), "source.credentialsSecretRef.name", "Must be the name of a Secret in the same namespace");
  }
  const subDomains = Array.isArray(input.subDomains) ? input.subDomains : [];
  const isList = subDomains === input.subDomains;
  must(isList, "subDomains", "Must be a list, for example [photos]");
  must(!isList || subDomains.length > 0, "subDomains", "Enter at least one sub-domain");
  for (const subDomain of subDomains) {
    must(isSubDomain(subDomain), "subDomains", `${subDomain}: must be lower-case letters, digits and '-', joined by dots`);
  }
  must(within(input.replicas ?? 1, 0, 1000), "replicas", `Must be from 0 to 1000`);
  if (input.autoscaling) {
    const { minReplicas = 1, maxReplicas } = input.autoscaling;
    must(within(maxReplicas, 1, 1000), "autoscaling.maxReplicas", `Must be from 1 to 1000`);
    must(within(minReplicas, 1, 1000), "autoscaling.minReplicas", `Must be from 1 to 1000`);
    must(!(minReplicas > maxReplicas), "autoscaling.minReplicas", "Must not exceed the maximum");
  }
  const probe: unknown = input.probe;
  if (probe !== undefined && probe !== null) {
    checkProbe(must, probe);
  }
  return out;
}

type Must = (fine: boolean, location: string, message: string) => void;

/** The bounds of the numbers of a probe, as the CRD has them. */
export const probeBounds = { periodSeconds: [10, 86_400], timeoutSeconds: [1, 60], failureThreshold: [1, 100] } as const;

/** The rules of the CRD; the OpenAPI document of the server does not have them. */
function checkProbe(must: Must, probe: unknown): void {
  const { path, ...numbers } = isObject(probe) ? probe : {};
  if (typeof path !== "string" || path === "") {
    must(false, "probe.path", "Enter the path of an image, for example /photos/cat.jpg");
  } else {
    must(path.startsWith("/"), "probe.path", "Must start with '/', for example /photos/cat.jpg");
    must(new TextEncoder().encode(path).length <= 1024, "probe.path", `Must have at most ${plural(1024, "byte")}`);
    must(!/[?#]/.test(path), "probe.path", "Must be a path without '?' or '#': the operator adds the parameter w=16");
    // Control characters of ASCII.
    must(!/[^\P{Cc}\u0080-\u009f]/u.test(path), "probe.path", "Must have no control characters");
    must(!/\/\/|\/\.\.?(\/|$)/.test(path), "probe.path", "Must have no empty, '.' or '..' segments");
    must(!["/ping", "/metrics"].includes(path), "probe.path", "Must be the path of an image: /ping and /metrics are answered even when no image can be served");
  }
  for (const [field, [least, most]] of Object.entries(probeBounds)) {
    const value = numbers[field];
    must(value === undefined || value === null || within(value, least, most), `probe.${field}`, `Must be from ${least} to ${most}`);
  }
  const { periodSeconds, timeoutSeconds } = numbers;
  const tooLong = typeof timeoutSeconds === "number" && timeoutSeconds > (typeof periodSeconds === "number" ? periodSeconds : 60);
  must(!tooLong, "probe.timeoutSeconds", "Must not exceed the period");
}

/** YAML and empty fields can hold anything. */
const within = (value: unknown, least: number, most: number): boolean => typeof value === "number" && value >= least && value <= most;

function checkBucket(must: Must, bucket = ""): void {
  must(bucket !== "", "source.bucket", "Enter a bucket");
  must(/^[A-Za-z0-9._-]*$/.test(bucket), "source.bucket", "Must be the name of a bucket: letters, digits, '.', '_' and '-'");
}

/** Errors of the server, at the locations of the form: body.subDomains[0] belongs to subDomains. */
export const fromServer = (errors: readonly FieldProblem[]): FieldError[] =>
  errors.map(({ location = "", message }) => ({ location: location.replace(/^body\.?/, "").replace(/\[\w+\]/g, ""), message: plain(message) }));

/** Removes the prefixes of Kubernetes. */
const plain = (message: string): string => message.replace(/^(Invalid value|Required value|Unsupported value|Duplicate value|Not found): /, "");

/** The messages of a field, and of what lies within it. */
export const messagesAt = (errors: readonly FieldError[], location: string): string[] =>
  errors.filter((error) => error.location === location || error.location.startsWith(location + ".")).map((error) => error.message);
