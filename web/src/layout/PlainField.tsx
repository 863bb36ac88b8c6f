import { FormGroup, FormHelperText, HelperText, HelperTextItem, TextInput, type TextInputProps } from "@patternfly/react-core";
import type { ReactNode } from "react";

interface Props extends Omit<TextInputProps, "id" | "label" | "onChange" | "ref"> {
  id: string;
  label: ReactNode;
  /** Help, or an error. */
  hint?: ReactNode;
  isWrong?: boolean;
  onChange: (text: string) => void;
}

/** A text field outside of a Darkroom's form. */
export function PlainField({ id, label, hint, isWrong = false, isRequired = false, onChange, ...rest }: Props) {
  const look = isWrong ? "error" : "default";
  return (
    <FormGroup label={label} fieldId={id} className={isRequired ? "dr-required" : undefined}>
      <TextInput autoComplete="off" spellCheck={false} {...rest} id={id} isRequired={isRequired} validated={look} aria-describedby={hint ? `${id}-help` : undefined} onChange={(_, text) => onChange(text)} />
      {hint && (
        <FormHelperText>
          <HelperText id={`${id}-help`} isLiveRegion>
            <HelperTextItem variant={look}>{hint}</HelperTextItem>
          </HelperText>
        </FormHelperText>
      )}
    </FormGroup>
  );
}
