import { api } from "./api/client";
import { reads } from "./api/reads";
import type { Access } from "./api/types";
import { useLoaded } from "./useLoaded";
import { useSettled } from "./useSettled";

/** For how long an answer about permissions is not asked for again, in milliseconds. */
const fresh = 10_000;

const isNamespace = (text: string): boolean => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text);
const nameOf = (namespace: string, name = ""): string => `access ${namespace} ${name}`;

/** The user's permissions in a namespace, or on one of its Darkrooms; undefined until they are known, also while the user types. */
export function useAccess(namespace: string, name?: string): Access | undefined {
  const typed = useSettled(namespace, 400);
  const { value } = useLoaded(nameOf(typed, name), (signal) => api.access({ namespace: typed, ...(name ? { name } : {}) }, signal), { fresh, enabled: isNamespace(typed) });
  return typed === namespace ? value : undefined;
}

/** The user's permissions in a namespace. */
export const readAccess = (namespace: string): Promise<Access> =>
  reads.query({ queryKey: [nameOf(namespace)], queryFn: ({ signal }) => api.access({ namespace }, signal), staleTime: fresh });
