/** A translation: messages by their English text. */
export type Catalogue = Readonly<Record<string, string>>;

/** The language of the page's texts, and the locale of its numbers, dates and lists. */
export interface Choice {
  language: string;
  locale: string;
}

interface Speech extends Choice {
  catalogue: Catalogue;
}

const english: Speech = { language: "en", locale: "en", catalogue: {} };
let speech = english;

/** The locale of numbers, dates and lists. */
export const locale = (): string => speech.locale;

/** The text of a message in the language of the page; in English if it is not translated. */
export const translated = (message: string): string => (Object.hasOwn(speech.catalogue, message) ? speech.catalogue[message] : undefined) ?? message;

/** Sets the language of all texts; without one it is English. Texts that are already shown stay. */
export function speak(next: Speech = english): void {
  speech = next;
}

/** Translations are loaded when they are needed. English is in the sources. */
const catalogues = import.meta.glob<Catalogue>(["../locales/*.json", "!../locales/en.json"], { import: "default" });
const fileOf = (language: string): string => `../locales/${language}.json`;

/**
 * The first of the preferred locales with a translation, by the lookup of RFC 4647: de-AT falls back to de. Dates are
 * those of the preferred locale, such as en-GB for English.
 */
export function choose(preferred: readonly string[], isAvailable: (language: string) => boolean): Choice {
  for (const locale of preferred.filter(isLocale)) {
    for (let language = locale; language !== ""; language = language.slice(0, Math.max(0, language.lastIndexOf("-")))) {
      if (isAvailable(language)) {
        return { language, locale };
      }
    }
  }
  return english;
}

/** Whether Intl accepts a locale. Browsers name some that it does not, such as en-US@posix. */
function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}

/** Loads the language that the browser prefers; a translation that cannot be loaded is replaced by English. */
export async function speakPreferred(): Promise<void> {
  const choice = choose(navigator.languages, (language) => language === english.language || fileOf(language) in catalogues);
  try {
    speak({ ...choice, catalogue: (await catalogues[fileOf(choice.language)]?.()) ?? {} });
  } catch {
    return;
  }
  document.documentElement.lang = choice.language;
}
