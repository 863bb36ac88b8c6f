import { FormGroup, FormHelperText, HelperText, HelperTextItem, Label, LabelGroup, TextInputGroup, TextInputGroupMain } from "@patternfly/react-core";
import { useState, type ClipboardEvent, type KeyboardEvent } from "react";
import { chosenDomain, offeredDomains } from "../model/domains";
import { useSettings } from "../settings";
import { Help, idOf, SelectField, useForm } from "./fields";
import { messagesAt } from "./validate";

const location = "subDomains";
const example = "photos";

/** The base domain, if the operator offers several. A value that is no longer offered is still shown. */
export function BaseDomain() {
  const { input } = useForm();
  const offered = offeredDomains(useSettings());
  const chosen = input.baseDomain ?? "";
  if (offered.length < 2 && !chosen) {
    return null;
  }
  const shown = (domain: string) => chosenDomain({ ...input, baseDomain: domain }, domain);
  const options = [...new Set([...offered, ...(chosen ? [chosen] : [])])];
  return <SelectField path={["baseDomain"]} label="Base domain" unset={`${shown(offered[0] ?? "")} (default)`} options={options} describe={shown} />;
}

/** Sub-domains as chips, with a preview of the host while typing. */
export function SubDomains() {
  const { input, errors, warnings, change, touch, disabled } = useForm();
  const baseDomain = chosenDomain(input, useSettings().baseDomain);
  const [text, setText] = useState("");
  const names = Array.isArray(input.subDomains) ? input.subDomains : [];
  const invalid = messagesAt(errors, location).length > 0;

  const set = (subDomains: string[]) => change({ ...input, subDomains }, location);
  const add = (typed: string) => {
    // A pasted host is reduced to its sub-domain.
    const fresh = typed
      .toLowerCase()
      .split(/[\s,;]+/)
      .map((name) => name.replace(/^https?:\/\//, "").replace(/\/.*$/, ""))
      .map((name) => (name.endsWith(`.${baseDomain}`) ? name.slice(0, -baseDomain.length - 1) : name))
      .filter(Boolean);
    if (fresh.length > 0) {
      set([...new Set([...names, ...fresh])]);
    }
    setText("");
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if ((event.key === "Enter" || event.key === "," || event.key === " ") && text.trim() !== "") {
      event.preventDefault();
      add(text);
    } else if (event.key === "Enter") {
      event.preventDefault();
    } else if (event.key === "Backspace" && text === "" && names.length > 0) {
      set(names.slice(0, -1));
    }
  };
  const onPaste = (event: ClipboardEvent<HTMLInputElement>) => {
    const pasted = event.clipboardData.getData("text");
    if (/[\s,;]/.test(pasted.trim())) {
      event.preventDefault();
      add(pasted);
    }
  };
  const typed = text.trim().toLowerCase();
  return (
    <FormGroup label="Sub-domains" fieldId={idOf(location)} className="dr-required">
      <TextInputGroup isDisabled={disabled} validated={invalid ? "error" : undefined}>
        <TextInputGroupMain
          inputId={idOf(location)}
          value={text}
          placeholder={names.length === 0 ? example : "Add another"}
          onChange={(_, value) => setText(value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          onBlur={() => {
            if (typed) {
              add(text);
            }
            touch(location);
          }}
          aria-describedby={`${idOf(location)}-help`}
          aria-label="Sub-domain"
          inputProps={{ autoComplete: "off", spellCheck: false }}
        >
          <LabelGroup aria-label="Sub-domains" numLabels={64}>
            {names.map((name, at) => (
              <Label
                key={name}
                color={messagesAt(errors, `${location}.${at}`).length === 0 ? "blue" : "red"}
                variant="outline"
                onClose={disabled ? undefined : () => set(names.filter((other) => other !== name))}
                closeBtnAriaLabel={`Remove ${name}`}
              >
                <span className="dr-chip">
                  <strong>{name}</strong>
                  <span className="dr-quiet">.{baseDomain}</span>
                </span>
              </Label>
            ))}
          </LabelGroup>
        </TextInputGroupMain>
      </TextInputGroup>
      {typed ? (
        // While typing, the preview replaces errors.
        <FormHelperText>
          <HelperText id={`${idOf(location)}-help`} isLiveRegion>
            <HelperTextItem>
              Press Enter to add <strong className="dr-break">{`${typed}.${baseDomain}`}</strong>
            </HelperTextItem>
          </HelperText>
        </FormHelperText>
      ) : (
        <Help location={location} help={`Images are served at SUB-DOMAIN.${baseDomain}`} />
      )}
      {warnings.length > 0 && (
        <FormHelperText>
          <HelperText isLiveRegion>
            {warnings.map((warning) => (
              <HelperTextItem key={warning} variant="warning" className="dr-break">
                {warning.charAt(0).toUpperCase() + warning.slice(1)}
              </HelperTextItem>
            ))}
          </HelperText>
        </FormHelperText>
      )}
    </FormGroup>
  );
}
