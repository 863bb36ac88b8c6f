import { Alert, Content, FormGroup, TextArea } from "@patternfly/react-core";
import { useEffect, useRef, useState } from "react";
import type { DarkroomInput } from "../api/types";
import { useForm } from "./fields";
import { rangeOf, read, write } from "./yaml";

/** The resource as kubectl would apply it. It is the same input as that of the form. */
export default function YamlEditor({
  input,
  target,
  onChange,
  onBroken,
  onArrived,
}: {
  input: DarkroomInput;
  /** The location to select, if an error leads to one. */
  target: string | undefined;
  onChange: (input: DarkroomInput) => void;
  onBroken: (broken: boolean) => void;
  /** The target is selected. */
  onArrived: () => void;
}) {
  const { disabled } = useForm();
  const [text, setText] = useState(() => write(input));
  const [error, setError] = useState<string>();
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (target !== undefined && area.current) {
      area.current.focus();
      area.current.setSelectionRange(...rangeOf(area.current.value, target));
      onArrived();
    }
  }, [target, onArrived]);
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
        <Alert component="p" isInline variant="danger" title="Invalid YAML" role="alert">
          {error}
        </Alert>
      )}
      <FormGroup label="Resource" fieldId="yaml">
        <TextArea
          ref={area}
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
        Keys and literal values of environment variables are never shown. If you leave them out, they are not changed.
      </Content>
    </>
  );
}
