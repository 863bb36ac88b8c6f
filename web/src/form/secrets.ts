import type { SourceInput } from "../api/types";

/** Types of sources that can have credentials. */
export type WithCredentials = "S3" | "GoogleCloudStorage";

/** An entry that a source needs of its Secret. */
export interface Entry {
  /** The field of credentialsSecretRef that names it. */
  field: "accessKeyKey" | "secretKeyKey" | "credentialsJsonKey";
  label: string;
  /** Its name unless the field says otherwise. */
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

/** The entries that a source needs of its Secret. */
export const entriesOf = ({ credentialsSecretRef }: SourceInput, type: WithCredentials): Entry[] =>
  fields[type].map((entry) => ({ ...entry, key: credentialsSecretRef?.[entry.field] ?? entry.usual }));
