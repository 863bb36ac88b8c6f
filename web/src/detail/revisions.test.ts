import { expect, test } from "vitest";
import { darkroom } from "../../test/darkrooms";
import type { Revision } from "../api/types";
import { asOf, changeOf, changesTo, lastOther, lostKeysOf, rollBackCommandOf } from "./revisions";

const now = darkroom({ labels: { team: "cats" }, annotations: { note: "kept" } });

/** A revision with the current settings except for some. */
const revision = (part: Partial<NonNullable<Revision["settings"]>> = {}): Revision => {
  const { source, subDomains, replicas } = now;
  return { revision: 3, status: "superseded", settings: { source, subDomains, ...(replicas === undefined ? {} : { replicas }), ...part } };
};

test("the changes to a revision are the changes of its settings", () => {
  expect(changesTo(now, revision())).toEqual([]);
  const lines = changesTo(now, revision({ replicas: 3 })).filter(({ kind }) => kind !== "same");
  expect(lines).toEqual([
    { kind: "removed", text: "  replicas: 1" },
    { kind: "added", text: "  replicas: 3" },
  ]);
});

test("labels and annotations are not part of a revision", () => {
  expect(asOf(now, revision())).toMatchObject({ name: "cats", labels: { team: "cats" }, annotations: { note: "kept" } });
});

test("a revision without settings has no changes", () => {
  const { settings: _, ...bare } = revision();
  expect(asOf(now, bare)).toBeUndefined();
  expect(changesTo(now, bare)).toEqual([]);
});

test("the command replaces the whole spec with the spec in the release Secret", () => {
  expect(rollBackCommandOf(now, revision())).toBe(
    `kubectl -n photos patch darkroom/cats --type=json -p '[{"op":"replace","path":"/spec","value":'"$(kubectl -n photos get secret ` +
      `sh.helm.release.v1.cats.v3 -o go-template='{{.data.spec | base64decode}}')"'}]'`,
  );
});

test("a revision is described by what it changed", () => {
  expect(changeOf(revision({ replicas: 3 }), revision())).toBe("replicas 1 → 3");
  expect(changeOf(revision(), revision())).toBe("same settings");
  expect(changeOf(revision(), undefined)).toBe("");
});

test("roll back goes to the last revision that was installed with other settings", () => {
  const of = (number: number, status: string, replicas: number): Revision => ({ ...revision({ replicas }), revision: number, status });
  const revisions = [of(5, "failed", 4), of(4, "deployed", 1), of(3, "superseded", 1), of(2, "superseded", 2), of(1, "superseded", 3)];
  expect(lastOther(now, revisions)?.revision).toBe(2);
  expect(lastOther(now, revisions.slice(0, 3))).toBeUndefined();
});

test("keys that the history does not keep cannot be restored", () => {
  const s3 = { type: "S3", bucket: "b", region: "r" } as const;
  const before: Revision = { ...revision({ source: { ...s3, credentials: "inline" } }), revision: 1 };
  const rotated = darkroom({ source: { ...s3, credentials: "secretRef", credentialsSecretRef: { name: "cats-s3" } } });
  expect(lostKeysOf(rotated, before)).toContain("does not keep them");
  expect(lastOther(rotated, [before])).toBeUndefined();
  const kept = darkroom({ source: { ...s3, bucket: "other", credentials: "inline" } });
  expect(lastOther(kept, [before])?.revision).toBe(1);
});
