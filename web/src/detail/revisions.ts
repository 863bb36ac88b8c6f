import type { Darkroom, DarkroomInput, Key, Revision } from "../api/types";
import { diffLines, type DiffLine } from "../diff/diff";
import { differences, show } from "../model/merge";
import { toInput, valueAt } from "../model/model";
import { list } from "../words/format";
import { write } from "../yaml/text";

/** The status of a revision, as used by Helm. */
export const describeStatus = (status: string): string => status.charAt(0).toUpperCase() + status.slice(1);

/** A Darkroom with the settings of a revision; undefined if the revision has none. */
export function asOf(darkroom: Darkroom, { settings }: Revision): DarkroomInput | undefined {
  if (!settings) {
    return undefined;
  }
  const { name, namespace, labels, annotations, status } = darkroom;
  return toInput({ name, namespace, status, ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}), ...settings });
}

/** Why a Darkroom cannot be rolled back to a revision: its keys were in the resource, and the history does not keep them. */
export const lostKeysOf = ({ source }: Darkroom, { settings }: Revision): string | undefined =>
  settings?.source.credentials === "inline" && source.credentials !== "inline" ? "The keys of this revision were in the resource, and the history does not keep them" : undefined;

/** The last installed revision with other settings that the Darkroom can be rolled back to. */
export const lastOther = (darkroom: Darkroom, revisions: readonly Revision[]): Revision | undefined =>
  revisions.find(
    (revision) => ["deployed", "superseded"].includes(revision.status) && revision.settings && !lostKeysOf(darkroom, revision) && changesTo(darkroom, revision).length > 0,
  );

/** The changes of a rollback, line by line; empty if no visible setting changes. */
export function changesTo(darkroom: Darkroom, revision: Revision): DiffLine[] {
  const then = asOf(darkroom, revision);
  const lines = then ? diffLines(write(toInput(darkroom)), write(then)) : [];
  return lines.some(({ kind }) => kind !== "same") ? lines : [];
}

/** The kubectl command of a rollback. It requires permission to read Secrets, and also restores hidden values. */
export const rollBackCommandOf = ({ namespace, name }: Key, { revision }: Revision): string =>
  `kubectl -n ${namespace} patch darkroom/${name} --type=json -p '[{"op":"replace","path":"/spec","value":'"$(kubectl -n ${namespace} get secret ` +
  `sh.helm.release.v1.${name}.v${revision} -o go-template='{{.data.spec | base64decode}}')"'}]'`;

/** What a revision changed, compared with the one before it: replicas 1 → 3. */
export function changeOf(revision: Revision, before: Revision | undefined): string {
  if (!before) {
    return "";
  }
  if (!revision.settings || !before.settings) {
    return "not recorded";
  }
  const { settings: was } = before;
  const { settings: is } = revision;
  const shown = (value: unknown) => (value !== null && typeof value === "object" ? "changed" : show(value));
  const changes = differences([], was, is).map((path) => {
    const [old, now] = [shown(valueAt(was, path)), shown(valueAt(is, path))];
    return `${path.join(".")} ${old === "changed" || now === "changed" ? "changed" : `${old} → ${now}`}`;
  });
  return changes.length === 0 ? "same settings" : list([...changes.slice(0, 3), ...(changes.length > 3 ? [`${changes.length - 3} more`] : [])]);
}
