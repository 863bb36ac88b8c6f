import { t } from "./t";

/** A number of Darkrooms. */
export const counted = (n: number): string => t("{n, plural, one {# Darkroom} other {# Darkrooms}}", { n });
