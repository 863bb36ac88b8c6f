import { t } from "../words/t";

/** The texts of the editor, its search and its list of errors, by their English names in CodeMirror. */
export const phrases = (): Record<string, string> => ({
  Find: t("Find"),
  Replace: t("Replace"),
  next: t("next{@match}"),
  previous: t("previous{@match}"),
  all: t("all{@matches}"),
  "match case": t("match case"),
  regexp: t("regexp"),
  "by word": t("by word"),
  replace: t("replace"),
  "replace all": t("replace all"),
  close: t("close{@search}"),
  "Go to line": t("Go to line"),
  go: t("go{@to a line}"),
  "current match": t("current match"),
  "on line": t("on line"),
  "replaced $ matches": t("replaced $ matches"),
  "replaced match on line $": t("replaced match on line $"),
  "Selection deleted": t("Selection deleted"),
  "Control character": t("Control character"),
  Completions: t("Completions"),
  Diagnostics: t("Diagnostics"),
  "No diagnostics": t("No diagnostics"),
});
