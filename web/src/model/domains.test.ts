import { expect, test } from "vitest";
import { darkroom } from "../../test/darkrooms";
import { emptyInput } from "./model";
import { baseDomainOf, chosenDomain, offeredDomains } from "./domains";

const byDefault = "{namespace}.example.com";
const status = darkroom().status;

test.each([
  ["the default, in its namespace", darkroom(), "photos.example.com"],
  ["the base domain in the spec", darkroom({ baseDomain: "img.example.org" }), "img.example.org"],
  ["the base domain chosen for this spec", darkroom({ status: { ...status, baseDomain: "old.example.com", observedGeneration: 1 } }), "old.example.com"],
  ["not the base domain of an earlier spec", darkroom({ generation: 2, status: { ...status, baseDomain: "old.example.com", observedGeneration: 1 } }), "photos.example.com"],
])("hosts are below %s", (_, of, want) => {
  expect(baseDomainOf(of, byDefault)).toBe(want);
});

test("a form shows the chosen base domain, else the default", () => {
  const input = emptyInput("photos");
  expect(chosenDomain(input, byDefault)).toBe("photos.example.com");
  expect(chosenDomain({ ...input, baseDomain: "img.example.org" }, byDefault)).toBe("img.example.org");
  expect(offeredDomains({ baseDomain: "a.example.com" })).toEqual(["a.example.com"]);
  expect(offeredDomains({ baseDomain: "a.example.com", baseDomains: ["a.example.com", "b.example.com"] })).toHaveLength(2);
});
