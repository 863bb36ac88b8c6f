import { api } from "../api/client";
import type { Secret, SourceInput } from "../api/types";
import { useLoaded } from "../useLoaded";
import { list } from "../words/format";
import { msg, t, type Message } from "../words/t";

/** Types of sources that can have credentials. */
export type WithCredentials = "S3" | "GoogleCloudStorage";

/** An entry that a source needs of its Secret. */
export interface Entry {
  /** The field of credentialsSecretRef that names it. */
  field: "accessKeyKey" | "secretKeyKey" | "credentialsJsonKey";
  label: Message;
  /** Its name unless the field says otherwise. */
  usual: string;
  key: string;
}

const fields: Record<WithCredentials, Omit<Entry, "key">[]> = {
  S3: [
    { field: "accessKeyKey", label: msg("Access key entry"), usual: "accessKey" },
    { field: "secretKeyKey", label: msg("Secret key entry"), usual: "secretKey" },
  ],
  GoogleCloudStorage: [{ field: "credentialsJsonKey", label: msg("Service account key entry"), usual: "credentials.json" }],
};

/** The entries that a source needs of its Secret. */
export const entriesOf = ({ credentialsSecretRef }: SourceInput, type: WithCredentials): Entry[] =>
  fields[type].map((entry) => ({ ...entry, key: credentialsSecretRef?.[entry.field] ?? entry.usual }));

/** The required keys that a Secret lacks. */
export const lacking = (secret: Secret, keys: readonly string[]): string[] => keys.filter((key) => !secret.keys.includes(key));

/** Secrets as the options of a field: those that have all keys first. */
export function optionsOf(secrets: readonly Secret[], keys: readonly string[]): { value: string; description?: string }[] {
  return secrets
    .map((secret) => ({ value: secret.name, lacks: lacking(secret, keys) }))
    .sort((a, b) => Number(a.lacks.length > 0) - Number(b.lacks.length > 0) || a.value.localeCompare(b.value))
    .map(({ value, lacks }) => ({ value, ...(lacks.length > 0 ? { description: t("Lacks {keys}", { keys: list(lacks) }) } : {}) }));
}

/** The Secrets of a namespace, as far as the user may list them. */
export interface Secrets {
  /** Undefined while they are not known. */
  items: Secret[] | undefined;
  /** There are more than were listed. */
  truncated: boolean;
  /** Undefined while it is not known. */
  mayList: boolean | undefined;
  mayCreate: boolean | undefined;
  reload: () => void;
}

const isNamespace = (text: string): boolean => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text);

/** Loads the rights to Secrets of a namespace, once typing has paused, and the Secrets if they are needed. */
export function useSecrets(namespace: string, needed: boolean): Secrets {
  const { value, reload } = useLoaded(`secrets ${namespace} ${needed}`, async (signal) => {
    await new Promise((resolve) => setTimeout(resolve, 400));
    signal.throwIfAborted();
    if (!isNamespace(namespace)) {
      return undefined;
    }
    const access = await api.access({ namespace }, signal);
    const list = needed && access.listSecrets ? await api.secrets(namespace, signal) : undefined;
    return { access, list };
  });
  return {
    items: value?.list?.items,
    truncated: value?.list?.truncated ?? false,
    mayList: value?.access.listSecrets,
    mayCreate: value?.access.createSecret,
    reload,
  };
}
