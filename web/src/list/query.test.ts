// @vitest-environment jsdom
import { expect, test } from "vitest";
import { darkroom } from "../../test/darkrooms";
import { countBy, formatQuery, parseQuery, select } from "./query";

const all = [
  darkroom({ name: "cats", namespace: "photos", labels: { team: "web", tier: "gold" } }),
  darkroom({ name: "broken", namespace: "photos", status: { phase: "Failed", domains: [], replicas: 0, readyReplicas: 0, conditions: [{ type: "Ready", status: "False", reason: "ImagePullFailed" }] } }),
  darkroom({ name: "shop", namespace: "team", source: { type: "S3", bucket: "goods", region: "r" }, labels: { team: "shop" }, createdAt: "2026-02-01T00:00:00Z" }),
  darkroom({ name: "new", namespace: "team", status: { domains: [], replicas: 0, readyReplicas: 0 } }),
];
const found = (search: string) => select(all, parseQuery(search)).map(({ name }) => name);

test.each([
  ["", ["broken", "new", "cats", "shop"]],
  ["?sort=name", ["broken", "cats", "new", "shop"]],
  ["?reason=ImagePullFailed", ["broken"]],
  ["?q=image+pull", ["broken"]],
  ["?q=goods", ["shop"]],
  ["?q=cats.darkroom", ["cats"]],
  ["?q=PHOTOS+cat", ["cats"]],
  ["?phase=Failed&phase=Pending", ["broken", "new"]],
  ["?source=S3", ["shop"]],
  ["?namespace=team", ["new", "shop"]],
  ["?label=team%3Dweb&label=team%3Dshop", ["cats", "shop"]],
  ["?label=team%3Dshop&label=tier%3Dgold", []],
  ["?label=team", []],
  ["?sort=-name", ["shop", "new", "cats", "broken"]],
  ["?sort=-phase", ["cats", "shop", "new", "broken"]],
  ["?sort=age", ["shop", "broken", "cats", "new"]],
])("%s finds %j", (search, want) => {
  expect(found(search)).toEqual(want);
});

test("the URL contains the visible settings, without defaults", () => {
  for (const search of ["", "?q=a+b&phase=Failed&reason=Invalid&source=S3&namespace=x&label=team%3Da&sort=-age&page=2&per=20"]) {
    expect(formatQuery(parseQuery(search))).toBe(search);
  }
});

test("invalid values in the URL are ignored", () => {
  expect(parseQuery("?phase=Fine&source=FTP&sort=-color&page=-1&per=9999")).toMatchObject({ phases: [], sources: [], sort: "phase", page: 1, perPage: 100 });
});

test("phases are counted regardless of the chosen one", () => {
  expect(countBy("phases", all, parseQuery("?phase=Failed&namespace=photos"))).toEqual(new Map([["Ready", 1], ["Failed", 1]]));
});

test("labels are counted by key and value", () => {
  expect(countBy("labels", all, parseQuery("?phase=Ready&label=team%3Dweb"))).toEqual(new Map([["team=web", 1], ["tier=gold", 1], ["team=shop", 1]]));
});
