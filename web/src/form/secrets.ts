import type { SourceInput } from "../api/types";

/** Types of sources that can have credentials. */
export type WithCredentials = "S3" | "GoogleCloudStorage";

/** Suffixes of the names of Secrets. */
export const suffixes: Record<WithCredentials, string> = { S3: "s3", GoogleCloudStorage: "gcs" };

/** A name that differs from the Secret in use: cats-s3, cats-s3-2, cats-s3-3. */
export function nextName(base: string, used: string | undefined): string {
  const match = used?.startsWith(base) ? /^(?:-(\d+))?$/.exec(used.slice(base.length)) : null;
  return match ? `${base}-${Number(match[1] ?? 1) + 1}` : base;
}

/** An entry of a Secret that a source needs. */
export interface Entry {
  /** The field of credentialsSecretRef that names the entry. */
  field: "accessKeyKey" | "secretKeyKey" | "credentialsJsonKey";
  label: string;
  /** The name of the entry unless the field sets another one. */
  usual: string;
  key: string;
}

const fields: Record<WithCredentials, Omit<Entry, "key">[]> = {
  S3: [
    { field: "accessKeyKey", label: "Access key entry", usual: "accessKey" },
    { field: "secretKeyKey", label: "Secret key entry", usual: "secretKey" },
  ],
  GoogleCloudStorage: [{ field: "credentialsJsonKey", label: "Service account key entry", usual: "credentials.json" }],
};

/** The entries of a Secret that a source needs. */
export const entriesOf = ({ credentialsSecretRef }: SourceInput, type: WithCredentials): Entry[] =>
  fields[type].map((entry) => ({ ...entry, key: credentialsSecretRef?.[entry.field] ?? entry.usual }));
