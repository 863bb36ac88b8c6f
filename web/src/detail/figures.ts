import type { Figures, GateFigures } from "../api/types";

/** The rates of the gates of a Darkroom between two responses. */
export interface Rates {
  /** In milliseconds since 1970. */
  at: number;
  requestsPerSecond: number;
  /** The share of images from the cache; undefined without requests. */
  hitRate: number | undefined;
  /** The 95th percentile of the duration, in milliseconds; undefined without requests. */
  p95: number | undefined;
  bytesPerSecond: number;
  /** The difference in size between originals and results. */
  savedPerSecond: number;
  errorsPerSecond: number;
}

/** A quantile of the duration in seconds, estimated like histogram_quantile of Prometheus. */
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
  // Beyond the last bucket, only its bound is known.
  return durations.at(-1)?.seconds;
}

/** The rates between two responses; undefined if they cannot be computed. Counters of a new pod start at 0. */
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
      // The counters of a replaced or restarted pod started at 0.
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
