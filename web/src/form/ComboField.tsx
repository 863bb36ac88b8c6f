import {
  FormGroup,
  FormHelperText,
  HelperText,
  MenuToggle,
  Select,
  SelectList,
  SelectOption,
  TextInputGroup,
  TextInputGroupMain,
} from "@patternfly/react-core";
import { useLayoutEffect, useRef, useState, type KeyboardEvent } from "react";
import { HelperTextItem } from "../patternfly/HelperTextItem";
import { t } from "../words/t";
import { Help, idOf, TextField, useForm } from "./fields";
import { valueAt, withValue, type Path } from "./model";
import { messagesAt } from "./validate";

/** A suggested value of a field. */
export interface Option {
  value: string;
  description?: string;
}

interface Props {
  path: Path;
  label: string;
  options: readonly Option[];
  help?: string;
  /** Something to consider about the value; it is not an error. */
  warning?: string | undefined;
  isRequired?: boolean;
  placeholder?: string;
  /** What an empty field stands for; undefined removes it. */
  empty?: string;
}

/** A line of text with suggestions; without any it is a plain field. */
export function ComboField(props: Props) {
  const { options, warning, ...field } = props;
  const id = idOf(field.path.join("."));
  const plain = options.length === 0;
  const focused = useRef(false);
  useLayoutEffect(() => {
    // Suggestions may arrive while the user types: the new field continues where the old one was.
    const input = document.getElementById(id);
    if (focused.current && input instanceof HTMLInputElement) {
      input.focus();
      input.setSelectionRange(input.value.length, input.value.length);
    }
  }, [id, plain]);
  return (
    <div onFocus={() => (focused.current = true)} onBlur={() => (focused.current = false)}>
      {plain ? <TextField {...field} /> : <Combo {...props} />}
    </div>
  );
}

function Combo({ path, label, options, help, warning, isRequired = false, placeholder, empty }: Props) {
  const { input, errors, change, touch, disabled } = useForm();
  const location = path.join(".");
  const id = idOf(location);
  const stored = valueAt(input, path);
  const value = typeof stored === "string" ? stored : "";
  const [open, setOpen] = useState(false);
  /** Whether the text was typed since the list was opened: only then it filters the list. */
  const [typed, setTyped] = useState(false);
  const [active, setActive] = useState(-1);
  const shown = typed ? options.filter((option) => option.value.includes(value)) : options;
  const invalid = messagesAt(errors, location).length > 0;
  const optionId = (at: number) => `${id}-option-${at}`;

  const show = (on: boolean) => {
    setOpen(on);
    setActive(-1);
    if (!on) {
      setTyped(false);
    }
  };
  const set = (text: string) => change(withValue(input, path, text === "" ? empty : text), location);
  const choose = (text: string) => {
    set(text);
    show(false);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const { key } = event;
    if (key === "ArrowDown" || key === "ArrowUp") {
      event.preventDefault();
      setOpen(true);
      const step = key === "ArrowDown" ? 1 : -1;
      setActive(shown.length === 0 ? -1 : (Math.max(active, step > 0 ? -1 : 0) + step + shown.length) % shown.length);
    } else if (key === "Enter" && open && !event.ctrlKey && !event.metaKey) {
      // Enter chooses or closes; it sends the form only from a closed list.
      event.preventDefault();
      const option = shown[active];
      if (option) {
        choose(option.value);
      } else {
        show(false);
      }
    } else if (key === "Tab") {
      show(false);
    }
  };
  return (
    <FormGroup label={label} fieldId={id} isRequired={isRequired}>
      <Select
        isOpen={open && shown.length > 0}
        selected={value}
        onSelect={(_, option) => choose(String(option))}
        onOpenChange={show}
        variant="typeahead"
        isScrollable
        maxMenuHeight="18rem"
        toggle={(ref) => (
          <MenuToggle
            ref={ref}
            variant="typeahead"
            isFullWidth
            isExpanded={open}
            isDisabled={disabled}
            status={invalid ? "danger" : undefined}
            aria-label={t("{label}: suggestions", { label })}
            onClick={() => show(!open)}
          >
            <TextInputGroup isPlain isDisabled={disabled}>
              <TextInputGroupMain
                inputId={id}
                value={value}
                placeholder={placeholder}
                role="combobox"
                aria-label={label}
                isExpanded={open}
                aria-controls={`${id}-list`}
                aria-activedescendant={active >= 0 ? optionId(active) : undefined}
                inputProps={{ autoComplete: "off", spellCheck: false, required: isRequired, "aria-describedby": `${id}-help`, "aria-invalid": invalid }}
                onClick={() => show(true)}
                onKeyDown={onKeyDown}
                onChange={(_, text) => {
                  setOpen(true);
                  setTyped(true);
                  setActive(-1);
                  set(text);
                }}
                onBlur={() => touch(location)}
              />
            </TextInputGroup>
          </MenuToggle>
        )}
      >
        <SelectList id={`${id}-list`} aria-label={label}>
          {shown.map((option, at) => (
            <SelectOption key={option.value} id={optionId(at)} value={option.value} description={option.description} isFocused={at === active}>
              {option.value}
            </SelectOption>
          ))}
        </SelectList>
      </Select>
      {warning && !invalid && (
        <FormHelperText>
          <HelperText isLiveRegion>
            <HelperTextItem variant="warning">{warning}</HelperTextItem>
          </HelperText>
        </FormHelperText>
      )}
      <Help location={location} help={help} />
    </FormGroup>
  );
}
