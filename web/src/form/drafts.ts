import { attempt } from "../attempt";
import { keyOf, type Darkroom, type DarkroomInput, type Key } from "../api/types";
import { hiddenOf, toInput, valueAt, withValue } from "../model/model";

/** An unsaved form in sessionStorage. It survives navigation, reload and a new sign-in. */
export interface Draft {
  input: DarkroomInput;
  /** The version that is edited; none for a new Darkroom. */
  base: Darkroom | undefined;
  /** Fields with secrets, which are not stored. */
  withheld: string[];
}

const prefix = "darkroom-draft ";
/** The user of the drafts. Other users of this tab must not see them. */
let user = "";
export const keepDraftsOf = (username: string): void => void (user = username);

/** The storage key of an item that is kept until sign-out. */
export const ofUser = (name: string): string => `${prefix}${user} ${name}`;

/** The storage key of the draft of a Darkroom, or of a new one. */
const nameOf = (key: Key | undefined): string => ofUser(key ? keyOf(key) : "");

/**
 * Removes what must not be stored: inline keys, and literal values of environment variables, any of which may be a
 * password.
 */
export function withoutSecrets(input: DarkroomInput): { input: DarkroomInput; withheld: string[] } {
  // The YAML may have any shape.
  const sources = Array.isArray(input.additionalSources) ? input.additionalSources.map((_, at) => `additionalSources.${at}`) : [];
  const keys = ["source", ...sources].flatMap((source) => [`${source}.accessKey`, `${source}.secretKey`]);
  const withheld = keys.filter((field) => valueAt(input, field.split(".")));
  const out = withheld.reduce((rest, field) => withValue(rest, field.split("."), undefined), input);
  if (!Array.isArray(input.extraEnv)) {
    return { input: out, withheld };
  }
  const literal = input.extraEnv.filter(({ value }) => value).map(({ name }) => `extraEnv.${name}`);
  const extraEnv = input.extraEnv.map(({ value, ...rest }) => (value ? rest : { ...rest, ...(value === undefined ? {} : { value }) }));
  return { input: { ...out, extraEnv }, withheld: [...withheld, ...literal] };
}

const keep = (edited: Key | undefined, draft: Draft): void => attempt(() => sessionStorage.setItem(nameOf(edited), JSON.stringify(draft)));

export const saveDraft = (edited: Key | undefined, input: DarkroomInput, base: Darkroom | undefined): void => keep(edited, { ...withoutSecrets(input), base });

/** Fills the form for a new Darkroom with a deleted one. */
export const draftAgain = (darkroom: Darkroom): void => keep(undefined, { input: toInput(darkroom), base: undefined, withheld: hiddenOf(darkroom) });

/** The stored draft, or undefined. */
export const readDraft = (edited: Key | undefined): Draft | undefined => attempt(() => JSON.parse(sessionStorage.getItem(nameOf(edited)) ?? "") as Draft);

export const dropDraft = (edited: Key | undefined): void => attempt(() => sessionStorage.removeItem(nameOf(edited)));

/** Removes the drafts of all users. */
export function clearDrafts(): void {
  for (const name of attempt(() => Object.keys(sessionStorage)) ?? []) {
    if (name.startsWith(prefix)) {
      sessionStorage.removeItem(name);
    }
  }
}
