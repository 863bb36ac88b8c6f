import { expect, test } from "vitest";
import { objectChanges } from "./objects";

const object = (kind: string, name: string, rest: string) => `---\nkind: ${kind}\nmetadata:\n  labels:\n    name: other\n  name: "${name}"\n${rest}\n`;

test("objects are compared one by one, and unchanged ones are omitted", () => {
  const before = object("Service", "cats", "port: 80") + object("Deployment", "cats", "replicas: 1") + object("Ingress", "cats", "host: a");
  const after = object("Service", "cats", "port: 80") + object("Deployment", "cats", "replicas: 2") + object("HTTPRoute", "cats", "host: a");
  expect(objectChanges(before, after).map(({ name, action }) => [name, action])).toEqual([
    ["Deployment cats", "changed"],
    ["HTTPRoute cats", "created"],
    ["Ingress cats", "deleted"],
  ]);
  expect(objectChanges(before, after)[0]?.lines.filter(({ kind }) => kind !== "same")).toEqual([
    { kind: "removed", text: "replicas: 1" },
    { kind: "added", text: "replicas: 2" },
  ]);
});

test("an object whose name ends with a digest of its content is changed, not replaced", () => {
  const changes = objectChanges(object("ConfigMap", "cats-0123456789", "a: 1"), object("ConfigMap", "cats-abcdef0123", "a: 2"));
  expect(changes.map(({ name, action }) => [name, action])).toEqual([["ConfigMap cats", "changed"]]);
});
