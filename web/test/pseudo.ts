import { parse, type Part } from "../src/words/message";
import { speak, type Catalogue } from "../src/words/locale";

/** Letters and digits of ASCII in full width, which no untranslated text has. */
const wide = (text: string): string => text.replace(/[A-Za-z0-9]/g, (char) => String.fromCodePoint((char.codePointAt(0) ?? 0) + 0xfee0));

function written(parts: readonly Part[]): string {
  return parts
    .map((part) => {
      if (typeof part === "string") {
        return wide(part);
      }
      if ("element" in part) {
        return `<${part.element}>${written(part.parts)}</${part.element}>`;
      }
      if ("plural" in part) {
        return `{${part.plural}, plural,${[...part.forms].map(([form, inner]) => ` ${form} {${written(inner)}}`).join("")}}`;
      }
      return `{${part.value}}`;
    })
    .join("");
}

/** Sets a language that only tests have: English in full width, and numbers and dates in Arabic. */
export function speakPseudo(english: Catalogue): void {
  const catalogue = Object.fromEntries(Object.keys(english).map((message) => [message, written(parse(message))]));
  speak({ language: "en-XA", locale: "ar-EG", catalogue });
}

/** Elements whose content is code or data. */
const code = "code, kbd, pre, script, style, .cm-content, .cm-gutters";
const attributes = ["aria-label", "aria-description", "aria-roledescription", "aria-valuetext", "alt", "title", "placeholder", "data-label"];

/** Texts and accessible names below a node that are not translated. What matches `data` is left out. */
export function untranslatedIn(root: ParentNode, data: RegExp): string[] {
  const found: string[] = [];
  const check = (where: string, text: string) => {
    if (/[A-Za-z0-9]/.test(text.replace(data, ""))) {
      found.push(`${where}: ${text.trim()}`);
    }
  };
  for (const element of root.querySelectorAll("*")) {
    if (element.shadowRoot) {
      found.push(...untranslatedIn(element.shadowRoot, data));
    }
    if (!element.matches(code)) {
      for (const name of attributes) {
        check(`${element.tagName.toLowerCase()} ${name}`, element.getAttribute(name) ?? "");
      }
    }
    if (!element.closest(code)) {
      const own = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
      own.forEach((node) => check(element.tagName.toLowerCase(), node.textContent ?? ""));
    }
  }
  return found;
}
