import { Alert, Content, FormGroup, TextArea } from "@patternfly/react-core";
import { useState } from "react";
import { LineCounter, parseDocument, stringify } from "yaml";
import type { DarkroomInput } from "../api/types";
import { useForm } from "./fields";
import { fromManifest, toManifest } from "./model";

/** Text as an input, or what is wrong with it and in which line. */
export function read(text: string): { input: DarkroomInput } | { error: string } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [first] = document.errors;
  if (first) {
    return { error: `Line ${lines.linePos(first.pos[0]).line}: ${first.message}` };
  }
  try {
    return { input: fromManifest(document.toJS({ maxAliasCount: 10 })) };
  } catch (thrown) {
    return { error: `The YAML ${thrown instanceof Error ? thrown.message : "cannot be read"}` };
  }
}

export const write = (input: DarkroomInput): string => stringify(toManifest(input), { lineWidth: 0 });

/** The resource as kubectl would apply it. What is typed here stands in the form, and the other way round. */
export default function YamlEditor({
  input,
  onChange,
  onBroken,
}: {
  input: DarkroomInput;
  onChange: (input: DarkroomInput) => void;
  onBroken: (broken: boolean) => void;
}) {
  const { disabled } = useForm();
  const [text, setText] = useState(() => write(input));
  const [error, setError] = useState<string>();
  const type = (next: string) => {
    setText(next);
    const result = read(next);
    if ("error" in result) {
      setError(result.error);
      onBroken(true);
      return;
    }
    setError(undefined);
    onBroken(false);
    onChange(result.input);
  };
  return (
    <>
      {error && (
        <Alert component="p" isInline variant="danger" title="This cannot be read" role="alert">
          {error}
        </Alert>
      )}
      <FormGroup label="Resource" fieldId="yaml">
        <TextArea
          id="yaml"
          className="dr-code dr-yaml"
          value={text}
          isDisabled={disabled}
          spellCheck={false}
          autoComplete="off"
          resizeOrientation="vertical"
          rows={Math.min(Math.max(text.split("\n").length + 2, 16), 48)}
          validated={error ? "error" : "default"}
          onChange={(_, next) => type(next)}
        />
      </FormGroup>
      <Content component="small" className="dr-quiet">
        Keys and literal values of environment variables are never shown. Left out, they stay as they are.
      </Content>
    </>
  );
}
