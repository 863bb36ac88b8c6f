import { useMemo } from "react";
import { useSnapshot } from "./live/useLive";
import { useSettings } from "./settings";
import { readAccess } from "./useAccess";
import { useLoaded } from "./useLoaded";

/** In how many namespaces permissions are checked. */
const maxChecked = 10;

/** The namespaces that this page knows of: those that are served, those of visible Darkrooms, and that of the user's service account. */
export function useNamespaces(): string[] {
  const { namespaces, username } = useSettings();
  const { darkrooms } = useSnapshot();
  const own = /^system:serviceaccount:([^:]+):/.exec(username)?.[1];
  const all = [...new Set([...(own ? [own] : []), ...namespaces, ...darkrooms.map(({ namespace }) => namespace)])].sort().join(" ");
  return useMemo(() => all.split(" ").filter(Boolean), [all]);
}

export interface Rights {
  create: string[];
  update: string[];
}

/** The known namespaces in which the user may create or update Darkrooms; undefined until that is known. */
export function useRights(): Rights | undefined {
  const known = useNamespaces();
  const checked = [...known.slice(0, maxChecked), ...(known.includes("default") ? [] : ["default"])];
  const { value, problem } = useLoaded(`rights ${checked.join(" ")}`, async () => {
    const rights = await Promise.all(checked.map(readAccess));
    const which = (right: "create" | "update") => checked.filter((_, at) => rights[at]?.[right]);
    return { create: which("create"), update: which("update") };
  });
  // The cluster decides: without an answer, trying stays possible.
  return value ?? (problem ? { create: known, update: known } : undefined);
}
