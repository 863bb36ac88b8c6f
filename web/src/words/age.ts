import { dateTime } from "./format";

const units = [
  [60, 1, "s"],
  [3_600, 60, "m"],
  [86_400, 3_600, "h"],
  [86_400 * 365, 86_400, "d"],
  [Infinity, 86_400 * 365, "y"],
] as const;

/** How long ago something was, in one unit: 5m, 3h, 2d. */
export function age(since: string | undefined, now: number): string {
  const then = since ? Date.parse(since) : NaN;
  if (Number.isNaN(then)) {
    return "–";
  }
  const seconds = Math.max(0, Math.floor((now - then) / 1000));
  const [, size, unit] = units.find(([limit]) => seconds < limit) ?? units[0];
  return `${Math.floor(seconds / size)}${unit}`;
}

/** A time as the user's browser formats it. */
export const atTime = (time: string | undefined): string => (time ? dateTime(time) : "");

/** A number of bytes: 512 B, 12.3 KiB, 1.2 MiB. */
export function bytes(n: number): string {
  if (n < 1024) {
    return `${n} B`;
  }
  return n < 1024 ** 2 ? `${(n / 1024).toFixed(1)} KiB` : `${(n / 1024 ** 2).toFixed(1)} MiB`;
}
