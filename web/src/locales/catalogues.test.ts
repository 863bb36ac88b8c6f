import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { problemWith, problemWithTranslation, sentencesIn, sources, usesIn } from "../../test/messages";
import type { Catalogue } from "../words/locale";

const uses = sources().flatMap(([file, text]) => usesIn(file, text));
const english = [...new Set(uses.map(({ message }) => message))].sort();

const fileOf = (language: string): string => join(import.meta.dirname, `${language}.json`);
const languages = readdirSync(import.meta.dirname).flatMap((file) => (file.endsWith(".json") && file !== "en.json" ? [file.slice(0, -".json".length)] : []));

/** A catalogue as a file: in the order of the English texts, and without those that no source has. */
function written(catalogue: Catalogue): string {
  const entries = english.flatMap((message) => (Object.hasOwn(catalogue, message) ? [[message, catalogue[message]]] : []));
  return `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;
}

test("the English catalogue has the texts of the sources; `npm run messages` writes it", async () => {
  await expect(written(Object.fromEntries(english.map((text) => [text, text])))).toMatchFileSnapshot(fileOf("en"));
});

test("every translation is one of a text in the sources", async () => {
  for (const language of languages) {
    expect(Intl.getCanonicalLocales(language)).toEqual([language]);
    const catalogue = JSON.parse(readFileSync(fileOf(language), "utf8")) as Catalogue;
    for (const [message, translation] of Object.entries(catalogue)) {
      expect(problemWithTranslation(message, translation, language), `${language}: ${message}`).toBeUndefined();
    }
    await expect(written(catalogue)).toMatchFileSnapshot(fileOf(language));
  }
});

test("every use of a text in the sources is valid", () => {
  expect(uses.length).toBeGreaterThan(400);
  for (const use of uses) {
    expect(problemWith(use), `${use.at}: ${use.message}`).toBeUndefined();
  }
});

test.each([
  ['const f = () => t("Edit {name}", { name });', undefined],
  ['const f = () => t("Edit {name}", { title });', "given title, but names name"],
  ['const f = () => t("Edit", { name });', "given name, but names nothing"],
  ['const f = () => rich("Type <strong>{name}</strong>", { name });', undefined],
  ['const f = () => rich("<plus>{n} added</plus>", { n });', "given n, but names n, plus"],
  ['const f = () => t("{n, plural, other {# pods}}", { n });', "a plural needs the forms one and other"],
  ['const title = t("Pods");', "translated before the language is known: mark it with msg"],
  ['const title = msg("Pods");', undefined],
])("of the use %s the problem is: %s", (source, want) => {
  expect(usesIn("x.tsx", source).map(problemWith)).toEqual([want]);
});

/** Classes and selectors of CSS, keys, commands, rights and elements: they are no texts. */
const code = /\b(?:dr|pf)-|prefers-|\bsolid\b|^textarea|^Control\+|kubectl|^(?:list|create|get) |^<img|^copy of …$/;

test("no sentence is outside the catalogue", () => {
  const found = sources().flatMap(([file, text]) => sentencesIn(file, text).filter((sentence) => !code.test(sentence)).map((sentence) => `${file}: ${sentence}`));
  expect(found).toEqual([]);
});

test.each([
  ['throw new Problem(0, "No connection", t("Try again"))', ["No connection"]],
  ["const title = `Edit the ${name}`;", ["Edit the …"]],
  ['const element = <p title="Some words">Other words</p>', ["Some words", "Other words"]],
  ['throw new Error("no context above")', []],
])("of %s, %j is outside the catalogue", (source, want) => {
  expect(sentencesIn("x.tsx", source)).toEqual(want);
});

test.each([
  ["de", "Edit {name}", "{name} bearbeiten", undefined],
  ["de", "Edit {name}", "{title} bearbeiten", "the values or elements are not those of the English text"],
  ["de", "<b>{n}</b> pods", "{n} Pods", "the values or elements are not those of the English text"],
  ["ja", "{n, plural, one {# pod} other {# pods}}", "{n, plural, other {ポッド # 個}}", undefined],
  ["pl", "{n, plural, one {# pod} other {# pods}}", "{n, plural, one {# pod} other {# podów}}", "a plural lacks the form few, many"],
])("in %s, of %s as %s the problem is: %s", (language, message, translation, want) => {
  expect(problemWithTranslation(message, translation, language)).toBe(want);
});
