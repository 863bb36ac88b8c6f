import type { Darkroom, DarkroomInput, FieldProblem } from "../api/types";
import { typeOf } from "../words/sources";
import { movesKeys } from "./model";

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
  must(name.length <= 53, "name", "Must have at most 53 characters");
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
  must(subDomains.length > 0, "subDomains", "Enter at least one sub-domain");
  for (const subDomain of subDomains) {
    must(isSubDomain(subDomain), "subDomains", `${subDomain}: must be lower-case letters, digits and '-', joined by dots`);
  }
  must(within(input.replicas ?? 1, 0, 1000), "replicas", "Must be from 0 to 1000");
  if (input.autoscaling) {
    const { minReplicas = 1, maxReplicas } = input.autoscaling;
    must(within(maxReplicas, 1, 1000), "autoscaling.maxReplicas", "Must be from 1 to 1000");
    must(within(minReplicas, 1, 1000), "autoscaling.minReplicas", "Must be from 1 to 1000");
    must(!(minReplicas > maxReplicas), "autoscaling.minReplicas", "Must not exceed the maximum");
  }
  return out;
}

/** YAML and empty fields can hold anything. */
const within = (value: unknown, least: number, most: number): boolean => typeof value === "number" && value >= least && value <= most;

function checkBucket(must: (fine: boolean, location: string, message: string) => void, bucket = ""): void {
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
