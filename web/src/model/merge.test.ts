import { expect, test } from "vitest";
import { darkroom } from "../../test/darkrooms";
import { same, merge, show } from "./merge";
import { toInput } from "./model";

const base = toInput(darkroom({ resources: { requests: { cpu: "1", memory: "1Gi" } } }));

test("changes of different fields are joined", () => {
  const theirs = { ...base, replicas: 3, resources: { requests: { cpu: "2", memory: "1Gi" } } };
  const mine = { ...base, version: "0.4.1", resources: { requests: { cpu: "1", memory: "2Gi" } } };
  const { input, taken, clashes } = merge(base, theirs, mine);
  expect(clashes).toEqual([]);
  expect(taken).toEqual(expect.arrayContaining([["replicas"], ["resources", "requests", "cpu"]]));
  expect(input).toEqual({ ...base, version: "0.4.1", replicas: 3, resources: { requests: { cpu: "2", memory: "2Gi" } } });
});

test("the same field changed to something else is a clash, with both sides", () => {
  const { clashes } = merge(base, { ...base, replicas: 3 }, { ...base, replicas: 2 });
  expect(clashes).toEqual([{ path: ["replicas"], base: 1, theirs: 3, mine: 2 }]);
});

test("the same change by both is not a clash", () => {
  const both = { ...base, replicas: 3 };
  expect(merge(base, both, both)).toEqual({ input: both, taken: [], clashes: [] });
});

test("a field that they removed goes, unless it was changed here", () => {
  const { resources, ...without } = base;
  expect(merge(base, without, base).input).not.toHaveProperty("resources.requests.cpu");
  const { clashes } = merge(base, without, { ...base, resources: { requests: { cpu: "9", memory: "1Gi" } } });
  expect(clashes.map(({ path, theirs }) => [path.join("."), theirs])).toEqual([["resources.requests.cpu", undefined]]);
  expect(resources).toBeDefined();
});

test("lists are one field", () => {
  const { clashes } = merge(base, { ...base, subDomains: ["cats", "theirs"] }, { ...base, subDomains: ["cats", "mine"] });
  expect(clashes.map(({ path }) => path)).toEqual([["subDomains"]]);
});

test("the order of fields does not matter", () => {
  expect(same({ ...base, labels: { a: "1", b: "2" } }, { ...base, labels: { b: "2", a: "1" } })).toBe(true);
});

test("values are shown so that they can be compared", () => {
  expect([undefined, 3, "text", ["a", "b"], { c: 1 }].map(show)).toEqual(["not set", "3", "text", "a, b", '{"c":1}']);
});
