import { api } from "./api/client";
import type { Access } from "./api/types";
import { useLoaded } from "./useLoaded";

const isNamespace = (text: string): boolean => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text);

/** The user's permissions in a namespace, or on one of its Darkrooms; undefined until they are known. */
export function useAccess(namespace: string, name?: string): Access | undefined {
  const { value } = useLoaded(`access ${namespace} ${name ?? ""}`, async (signal) => {
    // Wait until typing pauses.
    await new Promise((resolve) => setTimeout(resolve, 400));
    signal.throwIfAborted();
    return isNamespace(namespace) ? api.access({ namespace, ...(name ? { name } : {}) }, signal) : undefined;
  });
  return value;
}
