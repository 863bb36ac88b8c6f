import { expect, test } from "vitest";
import { savedBy, noParams, queryText, wrongWith, type Params } from "./params";

test.each<[Partial<Params>, string]>([
  [{}, ""],
  [{ w: "200" }, "?w=200"],
  [{ w: "200", h: "100", fit: "crop", crop: "top,left" }, "?w=200&h=100&fit=crop&crop=top,left"],
  [{ w: "200", fit: "crop", crop: "top" }, "?w=200"],
  [{ w: "200", h: "100", fit: "scale", crop: "top" }, "?w=200&h=100&fit=scale"],
  [{ mono: true, blur: "2.5", flip: "vh", rot: "90", compress: true }, "?mono=000000&blur=2.5&flip=vh&rot=90&auto=compress"],
  [{ compress: true, webp: true }, "?auto=compress,format"],
])("%j becomes %s", (part, want) => {
  expect(queryText({ ...noParams, ...part })).toBe(want);
});

test.each([
  ["/images/cat.jpg", undefined],
  ["images/cat.jpg", "starts with /"],
  ["/", "path of an image"],
  ["/cat.jpg?w=1", "must not contain"],
])("the path %s", (path, want) => {
  const wrong = wrongWith(path);
  if (want === undefined) {
    expect(wrong).toBeUndefined();
  } else {
    expect(wrong).toContain(want);
  }
});

test.each([
  [200_000, 20_000, "90 % lighter"],
  [100, 150, "50 % heavier"],
  [100, 100, "As large as the original"],
  [1000, 1004, "As large as the original"],
])("%i bytes that became %i are %s", (before, after, want) => {
  expect(savedBy(before, after)).toBe(want);
});
