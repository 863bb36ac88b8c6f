import fc from "fast-check";
import { expect, test } from "vitest";
import { noParams, type Params } from "./params";
import { choiceOf, imageSetOf, srcsetOf, worthwhile } from "./srcset";

const size = fc.integer({ min: 1, max: 2000 });
const typed = fc.oneof(fc.constant(""), size.map(String));
const params: fc.Arbitrary<Params> = fc.record({
  w: typed,
  h: typed,
  fit: fc.constantFrom("", "crop", "scale"),
  crop: fc.constantFrom("", "top"),
  mono: fc.boolean(),
  blur: fc.constant(""),
  flip: fc.constant(""),
  rot: fc.constantFrom("", "90", "180", "45"),
  compress: fc.boolean(),
  webp: fc.boolean(),
} as const);
const original = fc.record({ width: fc.integer({ min: 1, max: 5000 }), height: fc.integer({ min: 1, max: 5000 }) });

test("a candidate keeps the shape, has the size that its descriptor says, and is not larger than the original", () => {
  fc.assert(
    fc.property(params, original, (params, original) => {
      const { candidates, sizes } = choiceOf(params, original);
      expect(candidates.length).toBeGreaterThan(0);
      for (const { params: of, descriptor } of candidates) {
        expect([of.w, of.h].every((text) => text === "" || (Number(text) >= 1 && Number(text) <= 2000))).toBe(true);
        if (descriptor.endsWith("w")) {
          expect([of.w, of.h]).toEqual([descriptor.slice(0, -1), ""]);
          expect(Number(of.w)).toBeLessThanOrEqual(original.width);
          expect(sizes).toBeDefined();
          continue;
        }
        const n = Number(descriptor.slice(0, -1));
        expect([Number(of.w), Number(of.h)]).toEqual([Number(params.w) * n, Number(params.h) * n]);
        if (n > 1) {
          expect(Number(of.w)).toBeLessThanOrEqual(original.width);
          expect(Number(of.h)).toBeLessThanOrEqual(original.height);
        }
      }
      expect(new Set(candidates.map(({ descriptor }) => descriptor)).size).toBe(candidates.length);
    }),
  );
});

test.each<[Partial<Params>, string]>([
  [{ w: "200", h: "200", fit: "crop" }, "http://x/a.jpg?w=200&h=200&fit=crop 1x, http://x/a.jpg?w=400&h=400&fit=crop 2x, http://x/a.jpg?w=600&h=600&fit=crop 3x"],
  [{ w: "640" }, "http://x/a.jpg?w=320 320w, http://x/a.jpg?w=640 640w, http://x/a.jpg?w=960 960w, http://x/a.jpg?w=1200 1200w"],
])("the srcset of %j of an image of 1200 × 800", (part, want) => {
  expect(srcsetOf((query) => "http://x/a.jpg" + query, choiceOf({ ...noParams, ...part }, { width: 1200, height: 800 }).candidates)).toBe(want);
});

test("of any sizes the largest is kept, and each that is kept saves a tenth of the next one", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 8 }), (bytes) => {
      const kept = worthwhile(bytes);
      const sizes = bytes.filter((_, i) => kept[i]);
      expect(kept.at(-1)).toBe(true);
      sizes.slice(1).forEach((size, i) => expect(sizes[i]).toBeLessThanOrEqual(0.9 * size));
    }),
  );
});

test("CSS gets the images that are wide enough, by their density", () => {
  const params = (w: string) => ({ ...noParams, w });
  const candidates = ["320", "640", "1200"].map((w) => ({ params: params(w), descriptor: `${w}w` }));
  expect(imageSetOf((query) => "http://x/a.jpg" + query, { candidates, sizes: "640px" }, 640)).toBe('background-image: image-set(url("http://x/a.jpg?w=640") 1x, url("http://x/a.jpg?w=1200") 1.88x);');
});
