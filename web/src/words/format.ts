import { locale } from "./locale";

/** Formatters by their locale and options: making one takes longer than using it. */
function kept<F, O>(make: (locale: string, options: O) => F): (options: O) => F {
  const all = new Map<string, F>();
  return (options) => {
    const key = `${locale()} ${JSON.stringify(options)}`;
    const known = all.get(key) ?? make(locale(), options);
    all.set(key, known);
    return known;
  };
}

const numbers = kept((locale, options: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options));
const plurals = kept((locale, options: Intl.PluralRulesOptions) => new Intl.PluralRules(locale, options));
const lists = kept((locale, options: Intl.ListFormatOptions) => new Intl.ListFormat(locale, options));

/** A number as people type it: without separators of thousands. */
export const number = (n: number, digits = 0): string =>
  numbers({ useGrouping: false, minimumFractionDigits: digits, maximumFractionDigits: digits || 3 }).format(n);

/** The CLDR category of a number: zero, one, two, few, many or other. */
export const pluralForm = (n: number): string => plurals({}).select(n);

/** Names separated as in the language: a, b, c. */
export const list = (names: readonly string[]): string => lists({ type: "unit", style: "short" }).format(names);

/** Names as in a sentence: a and b. */
export const listAnd = (names: readonly string[]): string => lists({ type: "conjunction" }).format(names);

type DurationUnit = "millisecond" | "second" | "minute" | "hour" | "day" | "year";

/** A duration in one unit, in short: 5m. */
export const duration = (n: number, unit: DurationUnit): string => numbers({ style: "unit", unit, unitDisplay: "narrow" }).format(n);

/** A number of milliseconds: 12 ms. */
export const milliseconds = (n: number): string => numbers({ style: "unit", unit: "millisecond", maximumFractionDigits: 0, useGrouping: false }).format(n);

/** A date with its time. */
export const dateTime = (time: string): string => new Date(time).toLocaleString(locale());
