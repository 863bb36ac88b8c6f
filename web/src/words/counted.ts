/** A number of Darkrooms. */
export const counted = (n: number): string => (n === 1 ? "1 Darkroom" : `${n} Darkrooms`);
