import type { Source, SourceType } from "../api/types";
import { msg, type Message } from "./t";

/** Names of the source types. */
export const sourceNames: Record<SourceType, { name: Message; hint: Message }> = {
  WebFolder: { name: msg("Web folder"), hint: msg("Images below an http or https URL") },
  S3: { name: msg("S3"), hint: msg("A bucket of Amazon S3 or a compatible service") },
  GoogleCloudStorage: { name: msg("Google Cloud Storage"), hint: msg("A bucket of Google Cloud Storage") },
  CloudFront: { name: msg("CloudFront"), hint: msg("An Amazon CloudFront distribution") },
};

export const typeOf = (source: Pick<Source, "type">): SourceType =>
  source.type && source.type in sourceNames ? (source.type as SourceType) : "WebFolder";

/** The location of the images, in short. */
export function placeOf(source: Source): string {
  switch (typeOf(source)) {
    case "WebFolder":
      return source.baseUrl ?? "";
    case "S3":
    case "GoogleCloudStorage":
      return (source.bucket ?? "") + (source.pathPrefix ?? "");
    case "CloudFront":
      return (source.host ?? "") + (source.pathPrefix ?? "");
  }
}
