import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, indentUnit } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState } from "@codemirror/state";
import { EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { complete } from "./complete";
import type { Finding } from "./text";
import { theme } from "./theme";

/** An editor for the YAML of a Darkroom: highlighting, completion, search, and errors at their lines. */
export function CodeEditor({
  label,
  text,
  findings,
  isDisabled,
  selection,
  onChange,
  onSelected,
}: {
  label: string;
  text: string;
  findings: readonly Finding[];
  isDisabled: boolean;
  /** A range to select and focus. */
  selection: readonly [from: number, to: number] | undefined;
  onChange: (text: string) => void;
  onSelected: () => void;
}) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const readOnly = useRef(new Compartment());
  const latest = useRef({ text, onChange });
  useEffect(() => {
    latest.current = { text, onChange };
  });

  useEffect(() => {
    if (!host.current) {
      return undefined;
    }
    // In a shadow root the editor adopts its style sheets. In the document it would add style elements, which
    // the content security policy forbids.
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
    const made = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: latest.current.text,
        extensions: [
          lineNumbers(),
          history(),
          yaml(),
          indentUnit.of("  "),
          EditorState.tabSize.of(2),
          bracketMatching(),
          closeBrackets(),
          autocompletion({ override: [complete], activateOnCompletion: ({ apply }) => typeof apply === "string" && /\s$/.test(apply) }),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          highlightSelectionMatches(),
          search({ top: true }),
          lintGutter(),
          // Escape, then Tab leaves the editor.
          keymap.of([...closeBracketsKeymap, ...completionKeymap, ...searchKeymap, ...historyKeymap, ...lintKeymap, ...defaultKeymap, indentWithTab]),
          EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
          readOnly.current.of([]),
          theme,
          EditorView.updateListener.of(({ docChanged, state }) => {
            const next = state.doc.toString();
            if (docChanged && next !== latest.current.text) {
              latest.current.onChange(next);
            }
          }),
        ],
      }),
    });
    view.current = made;
    return () => made.destroy();
  }, [label]);

  useEffect(() => {
    const made = view.current;
    if (made && text !== made.state.doc.toString()) {
      made.dispatch({ changes: { from: 0, to: made.state.doc.length, insert: text } });
    }
  }, [text]);
  useEffect(() => {
    view.current?.dispatch({ effects: readOnly.current.reconfigure(EditorState.readOnly.of(isDisabled)) });
  }, [isDisabled]);
  useEffect(() => {
    const made = view.current;
    if (made) {
      const end = made.state.doc.length;
      const found = findings.map(({ from, to, message }) => ({ from: Math.min(from, end), to: Math.min(to, end), severity: "error" as const, message }));
      made.dispatch(setDiagnostics(made.state, found));
    }
  }, [findings]);
  useEffect(() => {
    if (selection && view.current) {
      const [anchor, head] = selection;
      view.current.focus();
      view.current.dispatch({ selection: { anchor, head }, scrollIntoView: true });
      onSelected();
    }
  }, [selection, onSelected]);
  return <div ref={host} className="dr-yaml" />;
}
