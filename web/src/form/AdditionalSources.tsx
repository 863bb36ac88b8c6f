import { Button, FormFieldGroup, FormFieldGroupHeader, Stack, StackItem } from "@patternfly/react-core";
import type { DarkroomInput } from "../api/types";
import { typeOf } from "../model/model";
import { SelectField, TextField, Toggle, useForm } from "./fields";
import { PlaceFields } from "./SourceFields";

/** Sources of other paths, and fallbacks. Their inline keys, certificates and identities can be set in the YAML tab. */
export function AdditionalSources() {
  const { input, change, disabled } = useForm();
  const sources = Array.isArray(input.additionalSources) ? input.additionalSources : [];
  const set = (next: NonNullable<DarkroomInput["additionalSources"]>) => {
    const { additionalSources: _, ...rest } = input;
    // They require the gate.
    change(next.length > 0 ? { ...rest, gate: input.gate ?? {}, additionalSources: next } : rest, "additionalSources");
  };
  return (
    <Stack hasGutter>
      {sources.map((source, at) => (
        <StackItem key={at}>
          <FormFieldGroup
            header={
              <FormFieldGroupHeader
                titleText={{ text: `Additional source ${source.name || String(at + 1)}`, id: `additional-source-${at}` }}
                actions={
                  <Button variant="link" isDanger isDisabled={disabled} onClick={() => set(sources.filter((_, other) => other !== at))}>
                    Remove
                  </Button>
                }
              />
            }
          >
            <Fields at={at} />
          </FormFieldGroup>
        </StackItem>
      ))}
      <StackItem>
        <Button variant="link" isInline isDisabled={disabled} onClick={() => set([...sources, { name: "", type: "WebFolder", fallback: true }])}>
          Add a source of other paths, or a fallback
        </Button>
      </StackItem>
    </Stack>
  );
}

function Fields({ at }: { at: number }) {
  const { input } = useForm();
  const path = (...field: string[]) => ["additionalSources", String(at), ...field];
  const source = input.additionalSources?.[at];
  const type = typeOf(source ?? {});
  return (
    <>
      <TextField path={path("name")} label="Name of the source" isRequired empty="" />
      <TextField path={path("path")} label="Path" placeholder="/products" help />
      <Toggle path={path("stripPath")} label="Remove the path from what the source is asked for" />
      <Toggle path={path("fallback")} label="Fallback: ask only for images that the sources before it do not have" />
      <SelectField path={path("type")} label="Type" />
      <PlaceFields of={path()} type={type} />
      {(type === "S3" || type === "GoogleCloudStorage") && <TextField path={path("credentialsSecretRef", "name")} label="Secret" help="Name of a Secret in the same namespace" />}
    </>
  );
}
