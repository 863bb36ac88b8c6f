import type { Darkroom, Source } from "../api/types";
import { typeOf } from "../model/model";
import { reasonOf } from "./conditions";
import { phaseOf, sentenceOf } from "./phases";
import { describeReason } from "./reasons";

/** A way out of a problem: a field to edit. */
export interface Remedy {
  label: string;
  field: string;
}

/** The one cause of a Darkroom's trouble, and the ways out of it. */
export interface Trouble {
  title: string;
  advice: string | undefined;
  remedies: Remedy[];
  /** The operator's own sentence. */
  sentence: string;
}

/** The place in the list of an additional source that a sentence names, or whose Secret it names. */
function additionalIn(sentence: string, { additionalSources = [] }: Darkroom): number {
  const name = /additional source ([a-z0-9-]+):/.exec(sentence)?.[1];
  const secret = /Secret (\S+) (?:does not exist|has no key)/.exec(sentence)?.[1];
  return additionalSources.findIndex((other) => other.name === name || (secret !== undefined && other.credentialsSecretRef?.name === secret));
}

/** The field that says where the images of a source are. */
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
const version: Remedy = { label: "Edit version", field: "version" };

type Advice = [advice: string, ...remedies: (Remedy | "place")[]];

const source: Advice = ["The pods run, but cannot fetch images from the source. Check where the images are, and that the cluster can reach it.", "place", image];

/** Advice by the reason of the condition Ready. */
const advices: Record<string, Advice> = {
  ImageNotFound: ["The source has no such image. Check the path of the image and the location of the source.", image, "place"],
  ImageUnprocessable: ["The source was not reached, or what it returned is not an image that Darkroom reads.", "place", image],
  SourceDenied: ["The source denies access. Check the credentials and the permissions of their owner.", credentials, "place"],
  SourceTimeout: source,
  SourceFailing: source,
  SourceRejected: source,
  SourceRedirected: ["The source redirects elsewhere. Use the location that it redirects to.", "place"],
  Unreachable: ["The pods do not answer. Look at their logs below."],
  NotAnImage: ["The response is not an image: perhaps an error page. Check the location and the path.", "place", image],
  SecretMissing: ["A Secret that the Darkroom refers to does not exist. Create it, or refer to another one.", credentials],
  SecretKeyMissing: ["A Secret lacks a key that the Darkroom needs.", credentials],
  DomainConflict: ["Another Darkroom claimed a host first. Choose another sub-domain.", domains],
  ImagePullFailed: ["The container image cannot be pulled. Check the version and the registry.", version],
  PodsFailing: ["Containers exit. Look at the logs of the pods below."],
  Unschedulable: ["No node has room for the pods. Lower the requests, or add nodes.", { label: "Edit resources", field: "resources.requests.cpu" }],
  Invalid: ["The settings are invalid. Edit them as the message says.", "place"],
};

/** What is wrong with a Darkroom that needs attention; undefined if nothing is. */
export function troubleOf(darkroom: Darkroom): Trouble | undefined {
  if (!["Failed", "Degraded"].includes(phaseOf(darkroom))) {
    return undefined;
  }
  const reason = reasonOf(darkroom) ?? "";
  const sentence = sentenceOf(darkroom);
  const at = additionalIn(sentence, darkroom);
  const other = darkroom.additionalSources?.[at];
  const place = ({ label, field }: Remedy): Remedy => ({ label, field: other ? field.replace(/^source\./, `additionalSources.${at}.`) : field });
  const [advice, ...remedies] = Object.hasOwn(advices, reason) ? (advices[reason] ?? []) : [];
  return {
    title: reason ? describeReason(reason) : "Needs attention",
    advice,
    remedies: remedies.map((remedy) => place(remedy === "place" ? placeField(other ?? darkroom.source) : remedy)),
    sentence,
  };
}
