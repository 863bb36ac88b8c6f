import { expect, test } from "vitest";
import { fromServer, messagesAt } from "./validate";

test("what the server found stands beside the same fields", () => {
  const errors = fromServer([
    { location: "body.source.region", message: "Required value: needed when source.type is S3" },
    { location: "body.subDomains[1]", message: "Invalid value: must be a DNS name" },
    { message: "something else" },
  ]);
  expect(messagesAt(errors, "source.region")).toEqual(["Needed when source.type is S3"]);
  expect(messagesAt(errors, "source")).toEqual(["Needed when source.type is S3"]);
  expect(messagesAt(errors, "subDomains")).toEqual(["Must be a DNS name"]);
  expect(errors[2]).toEqual({ location: "", message: "something else" });
});
