import type { Figures, GateFigures } from "../api/types";

/** What the gates of a Darkroom did between two moments. */
export interface Rates {
  /** In milliseconds since 1970. */
  at: number;
  requestsPerSecond: number;
  /** The share of images that came from the cache; undefined without requests of images. */
  hitRate: number | undefined;
  /** 95 % of requests took this many milliseconds at most; undefined without requests. */
  p95: number | undefined;
  bytesPerSecond: number;
  /** By which results were smaller than their originals. */
  savedPerSecond: number;
  errorsPerSecond: number;
}

/** The time within which a share of requests was answered, in seconds, as Prometheus estimates it. */
export function quantile(share: number, durations: readonly { seconds: number; count: number }[], total: number): number | undefined {
  if (total <= 0) {
    return undefined;
  }
  const wanted = share * total;
  let [below, from] = [0, 0];
  for (const { seconds, count } of durations) {
    if (count >= wanted) {
      return count === below ? seconds : from + ((seconds - from) * (wanted - below)) / (count - below);
    }
    [below, from] = [count, seconds];
  }
  // Longer than any bucket: the last bound is all that is known.
  return durations.at(-1)?.seconds;
}

/** The rates between two answers. Counters of a pod that is new begin with it; undefined if nothing can be said. */
export function ratesOf(before: Figures, after: Figures): Rates | undefined {
  const at = Date.parse(after.at);
  const seconds = (at - Date.parse(before.at)) / 1_000;
  if (!(seconds > 0) || after.gates.length === 0) {
    return undefined;
  }
  const earlier = new Map(before.gates.map((gate) => [gate.pod, gate]));
  const sum = (read: (gate: GateFigures) => number): number =>
    after.gates.reduce((total, gate) => {
      const was = earlier.get(gate.pod);
      // A pod that was replaced or restarted in between has counted since.
      return total + read(gate) - (was && was.requests <= gate.requests ? read(was) : 0);
    }, 0);
  const requests = sum(({ requests }) => requests);
  const images = sum(({ images }) => images);
  const bounds = after.gates.find(({ durations }) => durations.length > 0)?.durations ?? [];
  const durations = bounds.map(({ seconds }, i) => ({ seconds, count: sum((gate) => gate.durations[i]?.count ?? 0) }));
  const p95 = quantile(0.95, durations, requests);
  return {
    at,
    requestsPerSecond: requests / seconds,
    hitRate: images > 0 ? sum(({ cached }) => cached) / images : undefined,
    p95: p95 === undefined ? undefined : p95 * 1_000,
    bytesPerSecond: sum(({ bytes }) => bytes) / seconds,
    savedPerSecond: sum(({ saved }) => saved) / seconds,
    errorsPerSecond: sum(({ errors }) => errors) / seconds,
  };
}

/** The points of a line of values in a box, the latest at the right. */
export function lineOf(values: readonly number[], width: number, height: number): string {
  const most = Math.max(...values, Number.MIN_VALUE);
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  return values.map((value, i) => `${(i * step).toFixed(1)},${(height - (value / most) * height).toFixed(1)}`).join(" ");
}
