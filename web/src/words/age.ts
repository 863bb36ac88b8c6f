import { dateTime, duration, number } from "./format";
import { t } from "./t";

const steps = [
  [60, 1, "second"],
  [3_600, 60, "minute"],
  [86_400, 3_600, "hour"],
  [86_400 * 365, 86_400, "day"],
  [Infinity, 86_400 * 365, "year"],
] as const;

/** How long ago something was, in one unit: 5m, 3h, 2d. */
export function age(since: string | undefined, now: number): string {
  const then = since ? Date.parse(since) : NaN;
  if (Number.isNaN(then)) {
    return "–";
  }
  const seconds = Math.max(0, Math.floor((now - then) / 1000));
  const [, size, unit] = steps.find(([limit]) => seconds < limit) ?? steps[0];
  return duration(Math.floor(seconds / size), unit);
}

/** A time in the format of the page's locale. */
export const atTime = (time: string | undefined): string => (time ? dateTime(time) : "");

/** A number of bytes: 512 B, 12.3 KiB, 1.2 MiB. */
export function bytes(n: number): string {
  if (n < 1024) {
    return t("{size} B", { size: n });
  }
  return n < 1024 ** 2 ? t("{size} KiB", { size: number(n / 1024, 1) }) : t("{size} MiB", { size: number(n / 1024 ** 2, 1) });
}
