import { Button, FormGroup, Radio, Stack, StackItem } from "@patternfly/react-core";
import { useEffect, useState } from "react";
import type { Darkroom } from "../api/types";
import { Alert } from "../patternfly/Alert";
import { t } from "../words/t";
import { ComboField } from "./ComboField";
import { idOf, TextField, useForm } from "./fields";
import { movesKeys } from "./model";
import { NewSecret } from "./NewSecret";
import { SecretField } from "./SecretField";
import { entriesOf, useSecrets, type Secrets, type WithCredentials } from "./secrets";

type Way = "secret" | "inline" | "new" | "none" | "kept";

const reference = ["source", "credentialsSecretRef"];

/** The credentials of a source: a Secret, inline keys, or none. */
export function Credentials({ type, loaded }: { type: WithCredentials; loaded: Darkroom | undefined }) {
  const { input, missing, change, disabled } = useForm();
  const inlineKept = loaded?.source.credentials === "inline" && !movesKeys(input, loaded);
  const { source } = input;
  const [chosen, setWay] = useState<Way>(() => {
    if (source.credentialsSecretRef) {
      return "secret";
    }
    if (source.accessKey || source.secretKey || missing.some((field) => /^source\.(access|secret)Key$/.test(field))) {
      return "inline";
    }
    if (type === "GoogleCloudStorage") {
      return "none";
    }
    return inlineKept ? "kept" : "secret";
  });
  const [created, setCreated] = useState<string>();
  useEffect(() => {
    // The button that had the focus is gone.
    if (created !== undefined) {
      document.getElementById(idOf([...reference, "name"].join(".")))?.focus();
    }
  }, [created]);
  // Keys that cannot be kept must be entered.
  const way = chosen === "kept" && !inlineKept ? "inline" : chosen;
  const secrets = useSecrets(input.namespace ?? "", way === "secret");
  const choose = (next: Way) => {
    setWay(next);
    setCreated(undefined);
    const { credentialsSecretRef, accessKey, secretKey, ...rest } = source;
    const kept = next === "secret" ? { ...rest, credentialsSecretRef: credentialsSecretRef ?? { name: "" } } : rest;
    change({ ...input, source: kept }, "source.credentialsSecretRef");
  };
  const refer = (name: string) => {
    setWay("secret");
    setCreated(name);
    const { accessKey, secretKey, ...rest } = source;
    change({ ...input, source: { ...rest, credentialsSecretRef: { name } } }, "source.accessKey");
    secrets.reload();
  };
  const option = (value: Way, label: string, description: string) => (
    <Radio
      id={`credentials-${value}`}
      name="credentials"
      label={label}
      description={description}
      isChecked={way === value}
      isDisabled={disabled}
      onChange={() => choose(value)}
    />
  );
  return (
    <>
      <FormGroup label={t("Credentials")} role="radiogroup" fieldId="field-credentials">
        {inlineKept && type === "S3" && option("kept", t("Keep the current keys"), t("Stored in the resource; never shown"))}
        {option("secret", t("Existing Secret"), t("Recommended"))}
        {type === "S3" && option("inline", t("Inline keys"), t("Stored in the resource, or in a new Secret"))}
        {type === "GoogleCloudStorage" && option("new", t("New Secret"), t("Made from a service account key"))}
        {type === "GoogleCloudStorage" && option("none", t("None{@credentials}"), t("For public buckets"))}
      </FormGroup>
      {created && <Alert component="p" isInline isPlain variant="success" title={t("The Secret {name} was created", { name: created })} role="status" />}
      {way === "secret" && <Reference type={type} secrets={secrets} />}
      {way === "new" && <NewSecret type={type} mayCreate={secrets.mayCreate} onCreated={refer} />}
      {way === "inline" && (
        <Stack hasGutter>
          <StackItem>
            <Alert component="p" isInline variant="warning" title={t("Everyone who can read this Darkroom with kubectl can read inline keys")}>
              {t("They are stored in the resource; this page and its API never show them. Prefer a Secret. Keys are not kept with unsaved changes: if you leave this page, enter them again.")}
            </Alert>
          </StackItem>
          <StackItem>
            <TextField path={["source", "accessKey"]} label={t("Access key")} isRequired />
          </StackItem>
          <StackItem>
            <TextField path={["source", "secretKey"]} label={t("Secret key")} isRequired type="password" />
          </StackItem>
          <StackItem>
            <NewSecret type={type} mayCreate={secrets.mayCreate} onCreated={refer} />
          </StackItem>
        </Stack>
      )}
    </>
  );
}

/** A reference to a Secret, and to its entries if they have other names than the usual ones. */
function Reference({ type, secrets }: { type: WithCredentials; secrets: Secrets }) {
  const { input } = useForm();
  const [more, setMore] = useState(false);
  const entries = entriesOf(input.source, type);
  const keys = secrets.items?.find(({ name }) => name === input.source.credentialsSecretRef?.name)?.keys ?? [];
  return (
    <>
      <SecretField path={[...reference, "name"]} label={t("Secret")} keys={entries.map(({ key }) => key)} secrets={secrets} isRequired />
      {more ? (
        entries.map(({ field, label, usual }) => (
          <ComboField key={field} path={[...reference, field]} label={t(label)} placeholder={usual} options={keys.map((value) => ({ value }))} />
        ))
      ) : (
        <div>
          <Button variant="link" isInline onClick={() => setMore(true)}>
            {t("Use other entries of the Secret")}
          </Button>
        </div>
      )}
    </>
  );
}
