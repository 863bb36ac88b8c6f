import { expect, test } from "vitest";
import { darkroom } from "../../test/darkrooms";
import { withoutSecrets } from "./drafts";
import { toInput } from "../model/model";

test("inline keys and literal values of variables are taken out, and named", () => {
  const input = {
    ...toInput(darkroom()),
    source: { type: "S3" as const, bucket: "b", region: "r", accessKey: "canary-a", secretKey: "canary-s" },
    extraEnv: [{ name: "PASSWORD", value: "canary-v" }, { name: "KEPT" }, { name: "REF", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }],
  };
  const out = withoutSecrets(input);
  expect(JSON.stringify(out)).not.toContain("canary");
  expect(out.withheld).toEqual(["source.accessKey", "source.secretKey", "extraEnv.PASSWORD"]);
  expect(out.input.extraEnv).toEqual([{ name: "PASSWORD" }, { name: "KEPT" }, { name: "REF", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }]);
});

test("inline keys of additional sources are taken out too", () => {
  const key = { type: "S3" as const, bucket: "b", region: "r", accessKey: "canary-a", secretKey: "canary-s" };
  const input = { ...toInput(darkroom()), additionalSources: [{ name: "a", path: "/a" }, { name: "b", fallback: true, ...key }] };
  const out = withoutSecrets(input);
  expect(JSON.stringify(out)).not.toContain("canary");
  expect(out.withheld).toEqual(["additionalSources.1.accessKey", "additionalSources.1.secretKey"]);
  expect(out.input.additionalSources).toEqual([{ name: "a", path: "/a" }, { name: "b", fallback: true, type: "S3", bucket: "b", region: "r" }]);
});

test("an input without secrets is kept as it is", () => {
  const input = toInput(darkroom());
  expect(withoutSecrets(input)).toEqual({ input, withheld: [] });
});
