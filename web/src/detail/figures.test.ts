import fc from "fast-check";
import { expect, test } from "vitest";
import type { Figures, GateFigures } from "../api/types";
import { lineOf, quantile, ratesOf } from "./figures";

const gate = (pod: string, part: Partial<GateFigures> = {}): GateFigures => ({ pod, requests: 0, cached: 0, images: 0, errors: 0, bytes: 0, saved: 0, durations: [], ...part });
const at = (second: number, ...gates: GateFigures[]): Figures => ({ at: new Date(second * 1_000).toISOString(), pods: gates.length, gates });

test("rates cover all pods, between two responses", () => {
  const durations = (short: number, long: number) => [{ seconds: 0.1, count: short }, { seconds: 1, count: long }];
  const before = at(10, gate("a", { requests: 100, cached: 50, images: 100, bytes: 1000, durations: durations(90, 100) }));
  const after = at(20, gate("a", { requests: 150, cached: 90, images: 150, bytes: 6000, saved: 20_000, errors: 5, durations: durations(135, 150) }), gate("new", { requests: 50, cached: 10, images: 50, durations: durations(45, 50) }));
  expect(ratesOf(before, after)).toEqual({ at: 20_000, requestsPerSecond: 10, hitRate: 0.5, p95: expect.closeTo(550) as number, bytesPerSecond: 500, savedPerSecond: 2_000, errorsPerSecond: 0.5 });
});

test.each([
  ["a clock that stands still", at(10, gate("a")), at(10, gate("a"))],
  ["gates that do not respond", at(10, gate("a")), at(20)],
])("nothing is said of %s", (_, before, after) => {
  expect(ratesOf(before, after)).toBeUndefined();
});

const counted = fc.record({ pod: fc.constantFrom("a", "b", "c"), requests: fc.nat(1000), cached: fc.nat(1000), images: fc.nat(1000), errors: fc.nat(1000), bytes: fc.nat(), saved: fc.nat(), durations: fc.constant<GateFigures["durations"]>([{ seconds: 1, count: 1 }]) });

test("the number of requests is never negative and never more than was counted, even if pods come and go", () => {
  fc.assert(
    fc.property(fc.uniqueArray(counted, { selector: ({ pod }) => pod }), fc.uniqueArray(counted, { selector: ({ pod }) => pod }), (before, after) => {
      const rates = ratesOf(at(0, ...before), at(1, ...after));
      return !rates || (rates.requestsPerSecond >= 0 && rates.requestsPerSecond <= after.reduce((sum, { requests }) => sum + requests, 0));
    }),
  );
});

test("a quantile lies within its bucket", () => {
  const buckets = [{ seconds: 0.1, count: 50 }, { seconds: 0.2, count: 100 }];
  expect(quantile(0.5, buckets, 100)).toBe(0.1);
  expect(quantile(0.75, buckets, 100)).toBeCloseTo(0.15);
  expect(quantile(0.95, buckets, 1_000)).toBe(0.2);
  expect(quantile(0.95, buckets, 0)).toBeUndefined();
});

test("a line fills its box, the latest value at the right", () => {
  expect(lineOf([0, 5, 10], 100, 20)).toBe("0.0,20.0 50.0,10.0 100.0,0.0");
  expect(lineOf([0], 100, 20)).toBe("0.0,20.0");
});
