import type { Darkroom, Source } from "../api/types";
import { typeOf } from "../model/model";
import { reasonOf } from "./conditions";
import { phaseOf, sentenceOf } from "./phases";
import { describeReason } from "./reasons";

/** A field to edit to solve a problem. */
export interface Remedy {
  label: string;
  field: string;
}

/** The cause of a problem, and the remedies. */
export interface Trouble {
  title: string;
  remedies: Remedy[];
  /** The message of the operator: the cause, and what to check. */
  sentence: string;
}

/** The index of the additional source in a message, by its name or its Secret. */
function additionalIn(sentence: string, { additionalSources = [] }: Darkroom): number {
  const name = /additional source ([a-z0-9-]+):/.exec(sentence)?.[1];
  const secret = /Secret (\S+) (?:does not exist|has no key)/.exec(sentence)?.[1];
  return additionalSources.findIndex((other) => other.name === name || (secret !== undefined && other.credentialsSecretRef?.name === secret));
}

/** The field with the location of the images. */
const placeField = (source: Pick<Source, "type">): Remedy =>
  ({
    WebFolder: { label: "Edit base URL", field: "source.baseUrl" },
    S3: { label: "Edit bucket", field: "source.bucket" },
    GoogleCloudStorage: { label: "Edit bucket", field: "source.bucket" },
    CloudFront: { label: "Edit host", field: "source.host" },
  })[typeOf(source)];

const image: Remedy = { label: "Edit image path", field: "probe.path" };
const credentials: Remedy = { label: "Edit credentials", field: "source.credentialsSecretRef.name" };
const domains: Remedy = { label: "Edit sub-domains", field: "subDomains" };
const resources: Remedy = { label: "Edit resources", field: "resources.requests.cpu" };

type Ways = (Remedy | "place")[];

const unread: Ways = ["place", image];

/** The remedies by the reason of the condition Ready. */
const ways: Record<string, Ways> = {
  ImageNotFound: [image, "place"],
  ImageUnprocessable: unread,
  SourceDenied: [credentials, "place"],
  SourceTimeout: unread,
  SourceFailing: unread,
  SourceRejected: unread,
  SourceRedirected: ["place"],
  NotAnImage: unread,
  SecretMissing: [credentials],
  SecretKeyMissing: [credentials],
  DomainConflict: [domains],
  IngressClassMissing: [{ label: "Edit ingress class", field: "ingress.className" }],
  RouteRefused: [{ label: "Edit gateway", field: "gateway" }],
  ImagePullFailed: [
    { label: "Edit version", field: "version" },
    { label: "Edit image", field: "image.repository" },
  ],
  PodsFailing: [{ label: "Edit variables", field: "extraEnv" }, resources],
  PodsRefused: [resources],
  Unschedulable: [resources],
  Invalid: ["place"],
};

/** The remedy of a message that ends with a field to change, such as "…, or change gate.signing.secretRef.". */
function namedIn(sentence: string): Remedy[] | undefined {
  const [, name] = / (?:change|in) ((?:source|additionalSources|gate)\b\S*)\.$/.exec(sentence) ?? [];
  return name === undefined ? undefined : [{ label: `Edit ${name}`, field: name.replace(/\[(\d+)\]/g, ".$1") }];
}

/** The problem of a Darkroom that needs attention, or undefined. */
export function troubleOf(darkroom: Darkroom): Trouble | undefined {
  if (!["Failed", "Degraded"].includes(phaseOf(darkroom))) {
    return undefined;
  }
  const reason = reasonOf(darkroom) ?? "";
  const sentence = sentenceOf(darkroom);
  const at = additionalIn(sentence, darkroom);
  const other = darkroom.additionalSources?.[at];
  const place = ({ label, field }: Remedy): Remedy => ({ label, field: other ? field.replace(/^source\./, `additionalSources.${at}.`) : field });
  const usual = Object.hasOwn(ways, reason) ? (ways[reason] ?? []) : [];
  return {
    title: reason ? describeReason(reason) : "Needs attention",
    remedies: namedIn(sentence) ?? usual.map((remedy) => place(remedy === "place" ? placeField(other ?? darkroom.source) : remedy)),
    sentence,
  };
}
