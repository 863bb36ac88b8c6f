import { FormGroup, FormHelperText, FormSelect, FormSelectOption, HelperText, HelperTextItem, NumberInput, Switch, TextInput } from "@patternfly/react-core";
import { createContext, use, useState, type ReactNode } from "react";
import type { DarkroomInput } from "../api/types";
import { valueAt, withValue, type Path } from "../model/model";
import { describeField } from "../yaml/schema";
import { messagesAt, type FieldError } from "./validate";

/** The shared state of the fields. */
export interface FormState {
  input: DarkroomInput;
  errors: readonly FieldError[];
  /** Hosts that another Darkroom holds. */
  warnings: readonly string[];
  /** Secrets that a restored draft lacks. */
  missing: readonly string[];
  /** Changes the input at a field. */
  change: (next: DarkroomInput, location: string) => void;
  /** Marks a field as visited. From then on its local errors are shown. */
  touch: (location: string) => void;
  /** The field at which the form was opened. */
  target: string | undefined;
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

/** One field of the form. */
function useField(path: Path) {
  const form = useForm();
  const location = path.join(".");
  const look: "error" | "default" = messagesAt(form.errors, location).length > 0 ? "error" : "default";
  const set = (value: unknown) => form.change(withValue(form.input, path, value), location);
  return { ...form, location, id: idOf(location), value: valueAt(form.input, path), look, set };
}

export const idOf = (location: string): string => `field-${location.replaceAll(".", "-")}`;

/** Errors or help below a field, which describe it to screen readers. */
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

/** Bounds, defaults and examples come from the CRD. */
interface FieldProps {
  path: Path;
  label: string;
  /** True shows the first sentence of the CRD's description. */
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
  set,
}: FieldProps & {
  type?: "text" | "password" | "url";
  isDisabled?: boolean;
  list?: string;
  /** The value of an empty field; undefined removes the field. */
  empty?: string;
  /** The input with a text in this field; by default the text is the value at the path. */
  set?: (text: string) => DarkroomInput;
}) {
  const field = useField(path);
  const { id, location, value, look, disabled } = field;
  const described = describeField(path);
  return (
    <FormGroup label={label} fieldId={id} className={isRequired ? "dr-required" : undefined}>
      <TextInput
        id={id}
        type={type}
        isRequired={isRequired}
        isDisabled={disabled || isDisabled}
        placeholder={placeholder ?? described.example ?? described.usual}
        autoComplete={type === "password" ? "new-password" : "off"}
        spellCheck={false}
        list={list}
        value={typeof value === "string" ? value : ""}
        validated={look}
        aria-describedby={`${id}-help`}
        onChange={(_, text) => (set ? field.change(set(text), location) : field.set(text === "" ? empty : text))}
        onBlur={() => field.touch(location)}
      />
      <Help location={location} help={help === true ? described.help : help} />
    </FormGroup>
  );
}

/** A choice of values, by default the enum of the CRD. The first option means not set. */
export function SelectField({
  path,
  label,
  help,
  unset,
  options,
  describe = String,
}: FieldProps & { unset?: string; options?: string[]; describe?: (option: string) => string }) {
  const { usual, enum: allowed } = describeField(path);
  const { id, location, value, disabled, set } = useField(path);
  return (
    <FormGroup label={label} fieldId={id}>
      <FormSelect
        id={id}
        isDisabled={disabled}
        value={typeof value === "string" ? value : ""}
        aria-describedby={`${id}-help`}
        onChange={(_, chosen) => set(chosen || undefined)}
      >
        <FormSelectOption value="" label={unset ?? `${usual ?? "none"} (default)`} />
        {(options ?? allowed?.map(String))?.map((option) => (
          <FormSelectOption key={option} value={option} label={describe(option)} />
        ))}
      </FormSelect>
      <Help location={location} help={help} />
    </FormGroup>
  );
}

/**
 * A whole number with buttons, or a plain field if it is optional. Bounds and default come from the CRD. Typing is
 * never corrected: the server reports values that are out of bounds.
 */
export function NumberField({ path, label, help, isOptional = false }: Omit<FieldProps, "placeholder"> & { isOptional?: boolean }) {
  const { minimum: least = 0, maximum: most, default: preset, usual } = describeField(path);
  const unset = typeof preset === "number" ? preset : least;
  const { id, location, value, look, disabled, touch, set } = useField(path);
  const number = typeof value === "number" ? value : undefined;
  /** The text while the field has the focus. It may be empty or incomplete. */
  const [typed, setTyped] = useState<string>();
  const bounded = (n: number) => Math.min(Math.max(n, least), most ?? Number.MAX_SAFE_INTEGER);
  const type = (text: string) => {
    setTyped(text);
    const n = Math.trunc(Number(text));
    set(text === "" || Number.isNaN(n) ? undefined : n);
  };
  const leave = () => {
    if (typed === "") {
      // PatternFly sets 0 first.
      set(undefined);
    }
    setTyped(undefined);
    touch(location);
  };
  const step = (by: number) => {
    setTyped(undefined);
    set(bounded((number ?? unset) + by));
  };
  return (
    <FormGroup label={label} fieldId={id}>
      {isOptional ? (
        <TextInput
          id={id}
          type="number"
          min={least}
          max={most}
          placeholder={usual}
          isDisabled={disabled}
          className="dr-number"
          value={typed ?? number ?? ""}
          validated={look}
          aria-describedby={`${id}-help`}
          onChange={(_, text) => type(text)}
          onBlur={leave}
        />
      ) : (
        <NumberInput
          inputProps={{ id, "aria-describedby": `${id}-help` }}
          inputAriaLabel={label}
          minusBtnAriaLabel={`${label}: decrease`}
          plusBtnAriaLabel={`${label}: increase`}
          value={typed === "" ? "" : (number ?? unset)}
          min={least}
          max={most}
          isDisabled={disabled}
          validated={look}
          onMinus={() => step(-1)}
          onPlus={() => step(1)}
          onChange={(event) => type((event.target as HTMLInputElement).value)}
          onBlur={leave}
        />
      )}
      <Help location={location} help={help} />
    </FormGroup>
  );
}

export function Toggle({ path, label }: { path: Path; label: string }) {
  const { id, value, disabled, set } = useField(path);
  return <Switch id={id} label={label} isDisabled={disabled} isChecked={value === true} onChange={(_, on) => set(on || undefined)} />;
}
