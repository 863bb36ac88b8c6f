import { expect, test } from "vitest";
import { describeField } from "./schema";

test.each([
  ["ingress.className", { help: "IngressClass", example: undefined, usual: undefined }],
  ["source.endpoint", { help: "URL of an S3-compatible service", example: undefined, usual: "AWS" }],
  ["additionalSources.0.path", { help: "Restricts this source to images below a path; such images are read from this source only", example: undefined, usual: undefined }],
  ["probe.path", { help: "Path of an image in the source, for example /photos/cat.jpg", example: "/photos/cat.jpg", usual: undefined }],
  ["probe.periodSeconds", { usual: "60", minimum: 10, maximum: 86400 }],
  ["cacheTTLSeconds", { usual: "one year" }],
  ["logLevel", { usual: "info" }],
])("the form shows for %s the same text as the CRD", (path, want) => {
  expect(describeField(path.split("."))).toMatchObject(want);
});
