// @vitest-environment jsdom
import { expect, test } from "vitest";
import { paths, routeOf } from "./router";

test.each([
  ["/", { view: "list" }],
  ["/ui/create", { view: "create" }],
  ["/ui/explain", { view: "explain" }],
  ["/ui/photos/cats", { view: "detail", key: { namespace: "photos", name: "cats" } }],
  ["/ui/photos/cats/edit", { view: "edit", key: { namespace: "photos", name: "cats" } }],
  ["/ui/photos", { view: "unknown" }],
  ["/ui/photos/cats/other", { view: "unknown" }],
  ["/elsewhere", { view: "unknown" }],
])("%s", (path, want) => {
  expect(routeOf(path)).toEqual(want);
});

test("a Darkroom named create in a namespace of that name has its own address", () => {
  const key = { namespace: "create", name: "create" };
  expect(routeOf(paths.detail(key))).toEqual({ view: "detail", key });
});
