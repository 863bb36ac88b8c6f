/** A number of things: 1 pod, 2 pods. */
export const plural = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

/**
 * A message of the server as a sentence. The names of fields and objects, which contain a dot or a quote, keep their
 * case.
 */
export const sentence = (message: string): string => message.replace(/^[a-z]+(?=[\s,]|$)/, (word) => word.charAt(0).toUpperCase() + word.slice(1));

/** Names as a list: a, b, c. */
export const list = (names: readonly string[]): string => names.join(", ");

const conjunction = new Intl.ListFormat("en", { type: "conjunction" });

/** Names as in a sentence: a and b. */
export const listAnd = (names: readonly string[]): string => conjunction.format(names);

/** A number of milliseconds: 12 ms. */
export const milliseconds = (n: number): string => `${Math.round(n)} ms`;

/** A date with its time, as the user's browser formats them. */
export const dateTime = (time: string): string => new Date(time).toLocaleString();
