import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const token = (name: string): string => `var(--pf-t--global--${name})`;

/** The editor in the colors of the page, which change with its theme. */
export const theme = [
  EditorView.theme({
    "&": {
      color: token("text--color--regular"),
      backgroundColor: token("background--color--primary--default"),
      border: `${token("border--width--box--default")} solid ${token("border--color--default")}`,
      borderRadius: token("border--radius--small"),
      fontSize: token("font--size--body--sm"),
    },
    "&.cm-focused": { outline: `2px solid ${token("border--color--clicked")}` },
    ".cm-scroller": { minHeight: "20rem", maxHeight: "65vh", fontFamily: token("font--family--mono"), lineHeight: "1.5" },
    ".cm-content": { caretColor: token("text--color--regular") },
    ".cm-gutters": {
      color: token("text--color--subtle"),
      backgroundColor: token("background--color--secondary--default"),
      border: "none",
    },
    ".cm-activeLine": { backgroundColor: "transparent" },
    "&.cm-focused .cm-activeLine, &.cm-focused .cm-activeLineGutter": { backgroundColor: token("background--color--secondary--default") },
    ".cm-activeLineGutter": { color: token("text--color--regular"), backgroundColor: "transparent" },
    ".cm-tooltip, .cm-panels": {
      color: token("text--color--regular"),
      backgroundColor: token("background--color--floating--default"),
      borderColor: token("border--color--default"),
    },
    ".cm-tooltip": { maxWidth: "min(32rem, 90vw)" },
    ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: token("font--family--mono") },
    ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
      color: token("text--color--on-brand--default"),
      backgroundColor: token("color--brand--default"),
    },
    ".cm-completionIcon": { display: "none" },
    ".cm-completionDetail": { color: "inherit" },
    ".cm-panel.cm-search": { padding: token("spacer--sm") },
    ".cm-textfield, .cm-button": {
      color: token("text--color--regular"),
      background: token("background--color--primary--default"),
      border: `1px solid ${token("border--color--default")}`,
      fontSize: "inherit",
    },
    ".cm-panel.cm-search [name=close]": { color: token("text--color--regular"), fontSize: "1.25rem" },
  }),
  syntaxHighlighting(
    HighlightStyle.define([
      { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: token("text--color--link--default") },
      { tag: [tags.string, tags.special(tags.string)], color: token("text--color--status--success--default") },
      { tag: [tags.comment, tags.lineComment], color: token("text--color--subtle"), fontStyle: "italic" },
      { tag: [tags.keyword, tags.labelName, tags.typeName, tags.meta], color: token("text--color--status--info--default") },
    ]),
  ),
];
