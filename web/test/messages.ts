import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { parse, type Part } from "../src/words/message";

/** A use of t, rich or msg in the sources. */
export interface Use {
  /** File and line. */
  at: string;
  by: "t" | "rich" | "msg";
  message: string;
  /** The names of the values that are given to it; undefined if they are given elsewhere. */
  values: string[] | undefined;
  /** Whether it is evaluated as soon as its module is loaded. */
  early: boolean;
}

const root = join(import.meta.dirname, "..");
const functions = ["t", "rich", "msg"] as const;

/** The sources of the page, with their texts. */
export const sources = (): [file: string, text: string][] =>
  readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => /(?<!\.test|\.d)\.tsx?$/.test(file) && file !== "api/schema.ts")
    .sort()
    .map((file) => [file, readFileSync(join(root, "src", file), "utf8")]);

/** Every use of a message in a file. */
export function usesIn(file: string, text: string): Use[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const uses: Use[] = [];
  const visit = (node: ts.Node, early: boolean): void => {
    if (ts.isCallExpression(node)) {
      const by = functions.find((name) => ts.isIdentifier(node.expression) && node.expression.text === name);
      const [message, values] = node.arguments;
      if (by && message && ts.isStringLiteralLike(message)) {
        const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
        uses.push({ at: `${file}:${line}`, by, message: message.text, values: by === "msg" ? undefined : namesOf(values), early: early && by !== "msg" });
      }
    }
    ts.forEachChild(node, (child) => visit(child, early && !ts.isFunctionLike(node)));
  };
  visit(source, true);
  return uses;
}

/** Literals that read like a sentence, but are not in the catalogue. Errors of programming are left out. */
export function sentencesIn(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || (ts.isNewExpression(node) && /^(Syntax)?Error$/.test(node.expression.getText()))) {
      return;
    }
    if (ts.isCallExpression(node) && functions.some((name) => node.expression.getText() === name)) {
      node.arguments.slice(1).forEach(visit);
      return;
    }
    const literal = literalOf(node);
    if (/[A-Za-z]{2}[,;:.]? [a-z]{2}/.test(literal)) {
      found.push(literal);
    }
    ts.forEachChild(node, visit);
  };
  source.forEachChild(visit);
  return found;
}

/** The text of a literal; values in it are shown as …. */
function literalOf(node: ts.Node): string {
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map((span) => `…${span.literal.text}`).join("");
  }
  const isName = ts.isPropertyAssignment(node.parent) && node.parent.name === node;
  return (ts.isStringLiteralLike(node) && !isName) || ts.isJsxText(node) ? node.text : "";
}

/** The names of the properties of an object literal. */
function namesOf(values: ts.Expression | undefined): string[] {
  return values && ts.isObjectLiteralExpression(values) ? values.properties.flatMap(({ name }) => (name ? [name.getText()] : [])) : [];
}

/** Names of values and of elements, each once and sorted. */
export interface Names {
  values: string[];
  elements: string[];
}

/** What a message refers to. The error says that it is no message. */
export function namesIn(message: string): Names {
  const values = new Set<string>();
  const elements = new Set<string>();
  const visit = (part: Part): void => {
    if (typeof part === "string") {
      return;
    }
    if ("element" in part) {
      elements.add(part.element);
      part.parts.forEach(visit);
    } else if ("plural" in part) {
      values.add(part.plural);
      [...part.forms.values()].flat().forEach(visit);
    } else {
      values.add(part.value);
    }
  };
  parse(message).forEach(visit);
  return { values: [...values].sort(), elements: [...elements].sort() };
}

/** The plurals of a message, each by its forms. */
export function pluralsIn(message: string): string[][] {
  const found: string[][] = [];
  const visit = (part: Part): void => {
    if (typeof part !== "string" && "plural" in part) {
      found.push([...part.forms.keys()]);
      [...part.forms.values()].flat().forEach(visit);
    } else if (typeof part !== "string" && "element" in part) {
      part.parts.forEach(visit);
    }
  };
  parse(message).forEach(visit);
  return found;
}

/** Elements of HTML, which rich makes without a function. */
const plainElements = ["b", "code", "strong"];

/** What is wrong with a use of a message; undefined if nothing is. */
export function problemWith({ message, values, early }: Use): string | undefined {
  if (early) {
    return "translated before the language is known: mark it with msg";
  }
  if (pluralsIn(message).some((forms) => !forms.includes("one") || !forms.includes("other"))) {
    return "a plural needs the forms one and other";
  }
  if (values === undefined) {
    return undefined;
  }
  const names = namesIn(message);
  const wanted = [...names.values, ...names.elements.filter((name) => !plainElements.includes(name) || values.includes(name))].sort();
  return wanted.join() === [...values].sort().join() ? undefined : `given ${values.join(", ") || "nothing"}, but names ${wanted.join(", ") || "nothing"}`;
}

/** What is wrong with a translation of a message; undefined if nothing is. */
export function problemWithTranslation(message: string, translation: string, language: string): string | undefined {
  if (JSON.stringify(namesIn(translation)) !== JSON.stringify(namesIn(message))) {
    return "the values or elements are not those of the English text";
  }
  const wanted = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
  const missing = pluralsIn(translation).flatMap((forms) => wanted.filter((form) => !forms.includes(form)));
  return missing.length > 0 ? `a plural lacks the form ${missing.join(", ")}` : undefined;
}
