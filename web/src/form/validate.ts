import type { DarkroomInput, FieldProblem } from "../api/types";
import { typeOf } from "../words/sources";

/** Where a problem is, such as source.bucket, and what it is. */
export interface FieldError {
  location: string;
  message: string;
}

const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const url = /^https?:\/\/([^/?#@:\s]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(\/[^?#\s]*)?$/;

export const isSubDomain = (text: string): boolean => text.length <= 190 && text.split(".").every((part) => label.test(part));

/**
 * What the browser can tell at once. It says no more than the server would: the server has
 * the last word.
 */
export function validate(input: DarkroomInput): FieldError[] {
  const out: FieldError[] = [];
  const must = (fine: boolean, location: string, message: string) => {
    if (!fine) {
      out.push({ location, message });
    }
  };
  const name = input.name ?? "";
  must(name !== "", "name", "A name is needed, for example photos");
  must(name === "" || /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name), "name", "Must start with a letter and hold only lower-case letters, digits and '-'");
  must(name.length <= 53, "name", "Must have 53 characters at most");
  must(label.test(input.namespace ?? ""), "namespace", "Must be the name of a namespace: lower-case letters, digits and '-'");

  const { source } = input;
  switch (typeOf(source)) {
    case "WebFolder":
      must(Boolean(source.baseUrl), "source.baseUrl", "A URL is needed, for example https://example.com/images");
      must(!source.baseUrl || url.test(source.baseUrl), "source.baseUrl", "Must be an http or https URL without user, query or fragment");
      break;
    case "S3":
      must(Boolean(source.region), "source.region", "A region is needed, for example eu-west-2");
      must(!source.endpoint || url.test(source.endpoint), "source.endpoint", "Must be an http or https URL, for example https://minio.example.com:9000");
      must(Boolean(source.accessKey) === Boolean(source.secretKey), source.accessKey ? "source.secretKey" : "source.accessKey", "Access key and secret key go together");
      checkBucket(must, source.bucket);
      break;
    case "GoogleCloudStorage":
      checkBucket(must, source.bucket);
      break;
    case "CloudFront":
      must(Boolean(source.host), "source.host", "A host is needed, for example d111111abcdef8.cloudfront.net");
      must(!source.host || /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$/.test(source.host), "source.host", "Must be a host name, without https:// or a path");
      break;
  }
  if (source.credentialsSecretRef) {
    must(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(source.credentialsSecretRef.name), "source.credentialsSecretRef.name", "Must be the name of a Secret in the same namespace");
  }
  const subDomains = Array.isArray(input.subDomains) ? input.subDomains : [];
  must(subDomains.length > 0, "subDomains", "At least one sub-domain is needed");
  for (const subDomain of subDomains) {
    must(isSubDomain(subDomain), "subDomains", `${subDomain}: must be lower-case letters, digits and '-', joined by dots`);
  }
  if (input.autoscaling) {
    const { minReplicas = 1, maxReplicas } = input.autoscaling;
    must(maxReplicas >= 1, "autoscaling.maxReplicas", "Must be 1 or more");
    must(minReplicas <= maxReplicas, "autoscaling.minReplicas", "Must not be more than the most pods");
  }
  return out;
}

function checkBucket(must: (fine: boolean, location: string, message: string) => void, bucket = ""): void {
  must(bucket !== "", "source.bucket", "A bucket is needed");
  must(/^[A-Za-z0-9._-]*$/.test(bucket), "source.bucket", "Must be the name of a bucket: letters, digits, '.', '_' and '-'");
}

/** What the server found, at the same locations: body.subDomains[0] is of subDomains. */
export const fromServer = (errors: readonly FieldProblem[]): FieldError[] =>
  errors.map(({ location = "", message }) => ({ location: location.replace(/^body\.?/, "").replace(/\[\w+\]/g, ""), message: plain(message) }));

/** Takes off what Kubernetes puts before each message. */
const plain = (message: string): string => message.replace(/^(Invalid value|Required value|Unsupported value|Duplicate value|Not found): /, "");

/** The messages of a field, and of what lies within it. */
export const messagesAt = (errors: readonly FieldError[], location: string): string[] =>
  errors.filter((error) => error.location === location || error.location.startsWith(location + ".")).map((error) => error.message);
