import { api } from "./api/client";
import type { Access, Namespaces } from "./api/types";
import { useLoaded, type Loaded } from "./useLoaded";
import { useSettled } from "./useSettled";

/** The cache lifetime of permissions, in milliseconds. */
const fresh = 10_000;

const isNamespace = (text: string): boolean => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text);

/**
 * The user's permissions in a namespace, or on one of its Darkrooms; undefined until they are known, also while the
 * user types.
 */
export function useAccess(namespace: string, name?: string, { enabled = true } = {}): Access | undefined {
  const typed = useSettled(namespace, 400);
  const { value } = useLoaded(`access ${typed} ${name ?? ""}`, (signal) => api.access({ namespace: typed, ...(name ? { name } : {}) }, signal), { fresh, enabled: enabled && isNamespace(typed) });
  return typed === namespace ? value : undefined;
}

/** The namespaces in which the user may create and update Darkrooms. While they are unknown, actions stay enabled; the cluster decides. */
export const useNamespaces = (): Loaded<Namespaces> => useLoaded("namespaces", api.namespaces, { fresh: 60_000 });
