import { createElement, Fragment, type ReactNode } from "react";
import { list, number, pluralForm } from "./format";
import { translated } from "./locale";
import { parse, type Part } from "./message";

declare const message: unique symbol;

/** A text of the catalogue that is not translated yet. It cannot be shown without t. */
export interface Message {
  readonly [message]: true;
}

/** The texts that the catalogue can have: literals and what msg returns. */
type Known<M> = M extends string ? (string extends M ? never : M) : M;

/** Values of a message. Numbers are formatted for the locale of the page. */
export type Values = Readonly<Record<string, string | number>>;

/** Values and elements of a message. Elements of HTML need no function. */
export type RichValues = Readonly<Record<string, ReactNode | ((inner: ReactNode) => ReactNode)>>;

/** Marks a text that is translated later, by t: constants are made before the language is known. */
export const msg = <const M extends string>(text: Known<M>): Message => text as unknown as Message;

/** A text in the language of the page. Its English text is its key in the catalogue; parse describes its format. */
export function t<const M extends string | Message>(message: Known<M>, values: Values = {}): string {
  return expand(partsOf(message), values, (_, inner) => inner.join("")).join("");
}

/** Like t, for texts with elements, or with values that are elements. */
export function rich<const M extends string | Message>(message: Known<M>, values: RichValues = {}): ReactNode {
  return fragment(
    expand<ReactNode>(partsOf(message), values, (name, inner) => {
      const wrap = values[name];
      return typeof wrap === "function" ? wrap(fragment(inner)) : createElement(name, null, ...inner);
    }),
  );
}

/** Elements as a list in the language of the page. */
export const richList = (items: readonly ReactNode[]): ReactNode =>
  // Formatted by their numbers, which no separator contains.
  fragment(list(items.map((_, at) => `\0${at}\0`)).split("\0").map((text, at) => (at % 2 === 0 ? text : items[Number(text)])));

const fragment = (children: readonly ReactNode[]): ReactNode => createElement(Fragment, null, ...children);

const parsed = new Map<string, Part[]>();

function partsOf(message: unknown): readonly Part[] {
  const text = translated(message as string);
  const known = parsed.get(text);
  if (known) {
    return known;
  }
  const parts = parse(text);
  parsed.set(text, parts);
  return parts;
}

/** The parts with their values. */
function expand<T>(parts: readonly Part[], values: Readonly<Record<string, unknown>>, wrap: (element: string, inner: (T | string)[]) => T): (T | string)[] {
  return parts.flatMap((part) => {
    if (typeof part === "string") {
      return [part];
    }
    if ("element" in part) {
      return [wrap(part.element, expand(part.parts, values, wrap))];
    }
    if ("plural" in part) {
      const { forms } = part;
      const n = Number(values[part.plural]);
      return expand(forms.get(`=${n}`) ?? forms.get(pluralForm(n)) ?? forms.get("other") ?? [], values, wrap);
    }
    const value = values[part.value];
    return [typeof value === "number" ? number(value) : (value as T)];
  });
}
