import { plural } from "./format";

/** A number of Darkrooms. */
export const counted = (n: number): string => plural(n, "Darkroom");
