import type { Source, SourceType } from "../api/types";
import { typeOf } from "../model/model";

/** Names of the source types. */
export const sourceNames: Record<SourceType, { name: string; hint: string }> = {
  WebFolder: { name: "Web folder", hint: "Images below an http or https URL" },
  S3: { name: "S3", hint: "A bucket of Amazon S3 or a compatible service" },
  GoogleCloudStorage: { name: "Google Cloud Storage", hint: "A bucket of Google Cloud Storage" },
  CloudFront: { name: "CloudFront", hint: "An Amazon CloudFront distribution" },
};

/** The role of an additional source. */
export const roleOf = ({ path, fallback }: { path?: string; fallback?: boolean }): string => [path, fallback && "fallback"].filter(Boolean).join(", ");

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
