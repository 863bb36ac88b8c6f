import { FormGroup, FormHelperText, HelperText, HelperTextItem, NumberInput, TextInput } from "@patternfly/react-core";
import { createContext, use, type ReactNode } from "react";
import type { DarkroomInput } from "../api/types";
import { valueAt, withValue, type Path } from "./model";
import { messagesAt, type FieldError } from "./validate";

/** What all fields of a form share. */
export interface FormState {
  input: DarkroomInput;
  errors: readonly FieldError[];
  /** Changes the input, and tells which field was touched. */
  change: (next: DarkroomInput, location: string) => void;
  /** Errors of the browser are shown once a field was left, or somebody tried to go on. */
  touch: (location: string) => void;
  disabled: boolean;
}

export const FormContext = createContext<FormState | undefined>(undefined);

export function useForm(): FormState {
  const form = use(FormContext);
  if (!form) {
    throw new Error("no FormContext above");
  }
  return form;
}

export const idOf = (location: string): string => `field-${location.replaceAll(".", "-")}`;

/** Errors or help below a field, told to screen readers with it. */
export function Help({ location, help }: { location: string; help?: ReactNode }) {
  const { errors } = useForm();
  const messages = messagesAt(errors, location);
  const id = `${idOf(location)}-help`;
  if (messages.length === 0 && !help) {
    return null;
  }
  return (
    <FormHelperText>
      <HelperText id={id} isLiveRegion={messages.length > 0}>
        {messages.length > 0
          ? messages.map((message) => (
              <HelperTextItem key={message} variant="error">
                {message}
              </HelperTextItem>
            ))
          : help && <HelperTextItem>{help}</HelperTextItem>}
      </HelperText>
    </FormHelperText>
  );
}

interface FieldProps {
  path: Path;
  label: string;
  help?: ReactNode;
  isRequired?: boolean;
  placeholder?: string;
}

/** A line of text; empty means not set. */
export function TextField({
  path,
  label,
  help,
  isRequired = false,
  placeholder,
  type = "text",
  isDisabled = false,
  list,
  empty,
}: FieldProps & {
  type?: "text" | "password" | "url";
  isDisabled?: boolean;
  list?: string;
  /** What an empty field stands for; undefined removes it. */
  empty?: string;
}) {
  const { input, errors, change, touch, disabled } = useForm();
  const location = path.join(".");
  const value = valueAt(input, path);
  const id = idOf(location);
  return (
    <FormGroup label={label} fieldId={id} isRequired={isRequired}>
      <TextInput
        id={id}
        type={type}
        isRequired={isRequired}
        isDisabled={disabled || isDisabled}
        placeholder={placeholder}
        autoComplete={type === "password" ? "new-password" : "off"}
        spellCheck={false}
        list={list}
        value={typeof value === "string" ? value : ""}
        validated={messagesAt(errors, location).length > 0 ? "error" : "default"}
        aria-describedby={`${id}-help`}
        onChange={(_, text) => change(withValue(input, path, text === "" ? empty : text), location)}
        onBlur={() => touch(location)}
      />
      <Help location={location} help={help} />
    </FormGroup>
  );
}

/** A whole number with buttons; or, when it may be left out, a plain field. */
export function NumberField({
  path,
  label,
  help,
  least = 0,
  most,
  isOptional = false,
  placeholder,
}: FieldProps & { least?: number; most?: number; isOptional?: boolean }) {
  const { input, errors, change, touch, disabled } = useForm();
  const location = path.join(".");
  const value = valueAt(input, path);
  const id = idOf(location);
  const number = typeof value === "number" ? value : undefined;
  const bounded = (n: number) => Math.min(Math.max(n, least), most ?? Number.MAX_SAFE_INTEGER);
  const set = (n: number | undefined) => change(withValue(input, path, n), location);
  return (
    <FormGroup label={label} fieldId={id}>
      {isOptional ? (
        <TextInput
          id={id}
          type="number"
          min={least}
          max={most}
          placeholder={placeholder}
          isDisabled={disabled}
          className="dr-number"
          value={number ?? ""}
          validated={messagesAt(errors, location).length > 0 ? "error" : "default"}
          aria-describedby={`${id}-help`}
          onChange={(_, text) => set(text === "" ? undefined : Math.trunc(Number(text)))}
          onBlur={() => touch(location)}
        />
      ) : (
        <NumberInput
          id={id}
          inputProps={{ id, "aria-describedby": `${id}-help` }}
          inputAriaLabel={label}
          minusBtnAriaLabel={`${label}: one less`}
          plusBtnAriaLabel={`${label}: one more`}
          value={number ?? least}
          min={least}
          max={most}
          isDisabled={disabled}
          validated={messagesAt(errors, location).length > 0 ? "error" : "default"}
          onMinus={() => set(bounded((number ?? least) - 1))}
          onPlus={() => set(bounded((number ?? least) + 1))}
          onChange={(event) => set(bounded(Math.trunc(Number((event.target as HTMLInputElement).value))))}
          onBlur={() => touch(location)}
        />
      )}
      <Help location={location} help={help} />
    </FormGroup>
  );
}
