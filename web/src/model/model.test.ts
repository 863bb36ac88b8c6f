import { expect, test } from "vitest";
import { darkroom } from "../../test/darkrooms";
import { fromManifest, hiddenOf, toInput, toManifest, valueAt, withValue } from "./model";

test("a Darkroom that was read is sent back without its status", () => {
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
])("an invalid Darkroom is rejected: %o", (manifest, message) => {
  expect(() => fromManifest(manifest)).toThrow(message);
});

test("a field is set, and removed with the objects that become empty", () => {
  const set = withValue(toInput(darkroom()), ["ingress", "className"], "nginx");
  expect(valueAt(set, ["ingress", "className"])).toBe("nginx");
  expect(withValue(set, ["ingress", "className"], undefined)).not.toHaveProperty("ingress");
});

test("fields with values that the API does not show are known", () => {
  const hidden = hiddenOf(
    darkroom({
      source: { type: "S3", bucket: "b", region: "r", credentials: "inline" },
      additionalSources: [{ name: "a", path: "/a" }, { name: "b", type: "S3", fallback: true, credentials: "inline" }],
      extraEnv: [{ name: "PASSWORD" }, { name: "FROM", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }],
    }),
  );
  expect(hidden).toEqual(["source.accessKey", "source.secretKey", "additionalSources.1.accessKey", "additionalSources.1.secretKey", "extraEnv.PASSWORD"]);
});
