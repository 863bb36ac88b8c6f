// @vitest-environment jsdom
import { render } from "@testing-library/react";
import { afterEach, describe, expect, test, vi } from "vitest";
import { age, bytes } from "./age";
import { dateTime, list, listAnd, milliseconds, number } from "./format";
import { choose, speak, speakPreferred } from "./locale";
import { parse } from "./message";
import { msg, rich, richList, t } from "./t";

afterEach(() => speak());

const textOf = (node: React.ReactNode): string => render(<>{node}</>).container.innerHTML;

test("without a translation texts are English", () => {
  expect(t("Edit")).toBe("Edit");
  expect(t("Edit {name}", { name: "cats" })).toBe("Edit cats");
  expect(t(msg("All pods are ready"))).toBe("All pods are ready");
});

test.each([
  [0, "0 Darkrooms"],
  [1, "1 Darkroom"],
  [2000, "2000 Darkrooms"],
])("the plural of %i is %s", (n, want) => {
  expect(t("{n, plural, one {# Darkroom} other {# Darkrooms}}", { n })).toBe(want);
});

test("a plural has the forms of the language, and exact numbers come first", () => {
  speak({ language: "pl", locale: "pl", catalogue: { "{n, plural, one {# pod} other {# pods}}": "{n, plural, =0 {brak podów} one {# pod} few {# pody} many {# podów} other {# poda}}" } });
  const pods = (n: number) => t("{n, plural, one {# pod} other {# pods}}", { n });
  expect([0, 1, 2, 5, 22, 0.5].map(pods)).toEqual(["brak podów", "1 pod", "2 pody", "5 podów", "22 pody", "0,5 poda"]);
});

test("a translation can change the order of values and elements", () => {
  speak({ language: "de", locale: "de", catalogue: { "Type <strong>{name}</strong> to confirm": "Zur Bestätigung <strong>{name}</strong> eingeben" } });
  expect(textOf(rich("Type <strong>{name}</strong> to confirm", { name: "cats" }))).toBe("Zur Bestätigung <strong>cats</strong> eingeben");
});

test("values can be elements, and elements functions", () => {
  const node = rich("{label}: <plus>{added} added</plus>", { label: <b>Settings</b>, added: 3, plus: (text) => <i className="plus">{text}</i> });
  expect(textOf(node)).toBe('<b>Settings</b>: <i class="plus">3 added</i>');
});

test("a note distinguishes texts with the same English, and is not shown", () => {
  const ready = () => [t("Ready"), t("Ready{@number of pods}")];
  expect(ready()).toEqual(["Ready", "Ready"]);
  speak({ language: "de", locale: "de", catalogue: { Ready: "Bereit", "Ready{@number of pods}": "Bereite Pods" } });
  expect(ready()).toEqual(["Bereit", "Bereite Pods"]);
});

test("values are not read as messages, nor as HTML", () => {
  expect(t("Edit {name}", { name: "{n} <b>" })).toBe("Edit {n} <b>");
  expect(textOf(rich("Edit {name}", { name: "<b>x</b>" }))).toBe("Edit &lt;b&gt;x&lt;/b&gt;");
});

test("numbers, lists and durations are those of the locale", () => {
  speak({ language: "en", locale: "de", catalogue: {} });
  expect(number(12345.5)).toBe("12345,5");
  expect(bytes(2048)).toBe("2,0 KiB");
  speak({ language: "en", locale: "ar-EG", catalogue: {} });
  expect(t("{n} pods", { n: 12 })).toBe("١٢ pods");
  expect(age("2026-01-01T00:00:00Z", Date.parse("2026-01-01T05:00:00Z"))).toBe("٥ س");
  speak();
  expect(list(["a", "b", "c"])).toBe("a, b, c");
  expect(listAnd(["a", "b"])).toBe("a and b");
  expect(milliseconds(1234.5)).toBe("1235 ms");
  expect(textOf(richList([<b key="a">a</b>, <i key="b">b</i>]))).toBe("<b>a</b>, <i>b</i>");
});

describe("the language", () => {
  test.each([
    [["de-AT", "en"], { language: "de", locale: "de-AT" }],
    [["fr", "pt-BR", "de"], { language: "pt-BR", locale: "pt-BR" }],
    [["zh-Hant-TW"], { language: "zh-Hant", locale: "zh-Hant-TW" }],
    [["en-GB", "de"], { language: "en", locale: "en-GB" }],
    [["fr"], { language: "en", locale: "en" }],
    [["en-US@posix"], { language: "en", locale: "en" }],
    [[], { language: "en", locale: "en" }],
  ])("of a browser that prefers %j is %j", (preferred, want) => {
    expect(choose(preferred, (language) => ["de", "en", "pt-BR", "zh-Hant"].includes(language))).toMatchObject(want);
  });

  test("is that of the document", async () => {
    vi.spyOn(navigator, "languages", "get").mockReturnValue(["fr", "en-GB"]);
    document.documentElement.lang = "";
    await speakPreferred();
    expect(document.documentElement.lang).toBe("en");
    // The day comes first in Britain.
    expect(dateTime("2026-02-01T12:00:00Z")).toMatch(/^01\/02\/2026/);
  });
});

test.each([
  ["a plain text", ["a plain text"]],
  ["issue #1", ["issue ", "#", "1"]],
  ["{a} of {b}", [{ value: "a" }, " of ", { value: "b" }]],
  ["<b>{a}</b>", [{ element: "b", parts: [{ value: "a" }] }]],
  ["{n, plural, one {# in {ns}} other {<b>#</b>}}", [{ plural: "n", forms: new Map([["one", [{ value: "n" }, " in ", { value: "ns" }]], ["other", [{ element: "b", parts: [{ value: "n" }] }]]]) }]],
])("%s is read as %j", (message, want) => {
  expect(parse(message)).toEqual(want);
});

test.each(["{", "}", "a <b> c", "<b>a</i>", "{n, plural, one {a}", "{a b}"])("%s is no message", (message) => {
  expect(() => parse(message)).toThrow(SyntaxError);
});
