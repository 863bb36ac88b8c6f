import { Alert, Content, FormGroup } from "@patternfly/react-core";
import { useEffect, useMemo, useState } from "react";
import type { DarkroomInput } from "../api/types";
import { same } from "../model/merge";
import { CodeEditor } from "../yaml/CodeEditor";
import { inLine, rangeOf, read, write, type Finding } from "../yaml/text";
import { useForm } from "./fields";

/** The same input as in the form, as the resource that kubectl applies. */
export default function YamlEditor({
  input,
  text: before,
  target,
  onChange,
  onBroken,
  onArrived,
}: {
  input: DarkroomInput;
  /** The previous text with comments, if any. */
  text: string | undefined;
  /** The location to select. */
  target: string | undefined;
  onChange: (input: DarkroomInput, text: string) => void;
  onBroken: (broken: boolean) => void;
  /** Called when the target is selected. */
  onArrived: () => void;
}) {
  const { disabled, errors } = useForm();
  /** The text, and its last valid input. */
  const [typed, setTyped] = useState(() => ({ text: textOf(input, before), input }));
  if (typed.input !== input) {
    // The input changed elsewhere: by a merge, or because changes were discarded.
    setTyped({ text: write(input), input });
  }
  const { text } = typed;
  const result = useMemo(() => read(text), [text]);
  const broken = "error" in result;
  useEffect(() => onBroken(broken), [broken, onBroken]);
  const findings = useMemo((): Finding[] => {
    if ("error" in result) {
      return [result.error];
    }
    return errors.map(({ location, message }) => {
      const [from, to] = rangeOf(result.document, location);
      return { from, to, message };
    });
  }, [result, errors]);
  const selection = useMemo(() => (target === undefined || "error" in result ? undefined : rangeOf(result.document, target)), [target, result]);
  return (
    <>
      <FormGroup label="Resource" role="group" fieldId="yaml">
        <CodeEditor
          label="Resource"
          text={text}
          findings={findings}
          isDisabled={disabled}
          selection={selection}
          onSelected={onArrived}
          onChange={(next) => {
            const now = read(next);
            const changed = "error" in now ? input : now.input;
            setTyped({ text: next, input: changed });
            if (!("error" in now)) {
              onChange(now.input, next);
            }
          }}
        />
      </FormGroup>
      {/* Below the text, which would move at every typed character otherwise. */}
      {"error" in result && (
        <Alert component="p" isInline variant="danger" title="Invalid YAML" role="alert">
          {inLine(text, result.error)}
        </Alert>
      )}
      <Content component="small" className="dr-quiet">
        Keys and literal values of environment variables are never shown. If you leave them out, they are not changed. Ctrl+Space completes, Ctrl+F searches; Escape, then Tab leaves the editor.
      </Content>
    </>
  );
}

/** The previous text if it means the same, otherwise the input as YAML, which has no comments. */
function textOf(input: DarkroomInput, before: string | undefined): string {
  const now = before === undefined ? undefined : read(before);
  return before !== undefined && now && !("error" in now) && same(now.input, input) ? before : write(input);
}
