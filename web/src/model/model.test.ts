import { expect, test } from "vitest";
import { darkroom } from "../../test/darkrooms";
import { copyOf, fromManifest, toInput, toManifest, valueAt, withValue } from "./model";

test("what was read is sent back without what was found", () => {
  const input = toInput(darkroom({ labels: { a: "b" }, source: { type: "S3", bucket: "b", region: "r", credentials: "inline" } }));
  expect(input).toEqual({
    name: "cats",
    namespace: "photos",
    labels: { a: "b" },
    subDomains: ["cats"],
    replicas: 1,
    source: { type: "S3", bucket: "b", region: "r" },
  });
});

test("an input becomes a resource for kubectl, and comes back the same", () => {
  const input = toInput(darkroom({ annotations: { note: "x" }, podTemplate: { nodeSelector: { disk: "ssd" } } }));
  const manifest = toManifest(input);
  expect(manifest).toMatchObject({
    apiVersion: "deployments.example.com/v1alpha1",
    kind: "Darkroom",
    metadata: { name: "cats", namespace: "photos", annotations: { note: "x" } },
    spec: { subDomains: ["cats"], podTemplate: { nodeSelector: { disk: "ssd" } } },
  });
  expect(fromManifest(manifest)).toEqual(input);
});

test.each([
  ["a text", "must be one resource"],
  [{ kind: "Pod", apiVersion: "v1" }, "must be a resource of kind Darkroom"],
  [{ ...toManifest(toInput(darkroom())), data: {} }, "has an unknown field data"],
])("what is no Darkroom is refused: %o", (manifest, message) => {
  expect(() => fromManifest(manifest)).toThrow(message);
});

test("a field is set, and removed with the objects that it leaves empty", () => {
  const set = withValue(toInput(darkroom()), ["ingress", "className"], "nginx");
  expect(valueAt(set, ["ingress", "className"])).toBe("nginx");
  expect(withValue(set, ["ingress", "className"], undefined)).not.toHaveProperty("ingress");
});

test("a copy has no hosts, no secrets, and nothing that tools recognize", () => {
  const { input, withheld } = copyOf(
    darkroom({
      name: "a".repeat(53),
      labels: { team: "cats", "kustomize.toolkit.fluxcd.io/name": "apps" },
      annotations: { "deployments.example.com/paused": "true" },
      podTemplate: { annotations: { "kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z" } },
      source: { type: "S3", bucket: "b", region: "r", credentials: "inline" },
      extraEnv: [{ name: "PASSWORD" }, { name: "FROM", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }],
    }),
  );
  expect(input.name).toBe(`${"a".repeat(48)}-copy`);
  expect(input.subDomains).toEqual([]);
  expect(input.labels).toEqual({ team: "cats" });
  expect(input.annotations).toBeUndefined();
  expect(input.podTemplate).toBeUndefined();
  expect(input.source).toEqual({ type: "S3", bucket: "b", region: "r" });
  expect(withheld).toEqual(["source.accessKey", "source.secretKey", "extraEnv.PASSWORD"]);
});
