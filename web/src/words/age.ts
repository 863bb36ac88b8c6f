const steps: [limit: number, unit: number, letter: string][] = [
  [60, 1, "s"],
  [3_600, 60, "m"],
  [86_400, 3_600, "h"],
  [86_400 * 365, 86_400, "d"],
  [Infinity, 86_400 * 365, "y"],
];

/** How long ago something was, as kubectl would say: 5m, 3h, 2d. */
export function age(since: string | undefined, now: number): string {
  const then = since ? Date.parse(since) : NaN;
  if (Number.isNaN(then)) {
    return "–";
  }
  const seconds = Math.max(0, Math.floor((now - then) / 1000));
  const [, unit, letter] = steps.find(([limit]) => seconds < limit) ?? [0, 1, "s"];
  return `${Math.floor(seconds / unit)}${letter}`;
}

/** A time in the words of the reader's language. */
export const atTime = (time: string | undefined): string => (time ? new Date(time).toLocaleString() : "");

const sizes: [limit: number, unit: string][] = [
  [1024 ** 2, "KiB"],
  [Infinity, "MiB"],
];

/** A number of bytes: 512 B, 12.3 KiB, 1.2 MiB. */
export function bytes(n: number): string {
  if (n < 1024) {
    return `${n} B`;
  }
  const [limit, unit] = sizes.find(([most]) => n < most) ?? [Infinity, "MiB"];
  return `${(n / (limit === 1024 ** 2 ? 1024 : 1024 ** 2)).toFixed(1)} ${unit}`;
}
