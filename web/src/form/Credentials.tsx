import { Alert, Button, FormGroup, Radio, Stack, StackItem } from "@patternfly/react-core";
import { useEffect, useState } from "react";
import type { Darkroom } from "../api/types";
import { listAnd } from "../words/format";
import { idOf, TextField, useForm } from "./fields";
import { movesKeys } from "../model/model";
import { NewSecret } from "./NewSecret";
import { entriesOf, type WithCredentials } from "./secrets";

type Way = "secret" | "inline" | "new" | "identity" | "none" | "kept";

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
    if (source.auth) {
      return "identity";
    }
    if (type === "GoogleCloudStorage") {
      return "none";
    }
    if (source.accessKey || source.secretKey || missing.some((field) => /^source\.(access|secret)Key$/.test(field))) {
      return "inline";
    }
    return inlineKept ? "kept" : "secret";
  });
  const [created, setCreated] = useState<string>();
  useEffect(() => {
    // The button with the focus was removed.
    if (created !== undefined) {
      document.getElementById(idOf([...reference, "name"].join(".")))?.focus();
    }
  }, [created]);
  // Keys that the server does not keep must be entered again.
  const way = chosen === "kept" && !inlineKept ? "inline" : chosen;
  /** The previous reference, which is restored if the user changes back. */
  const [aside, setAside] = useState({ name: "" });
  const choose = (next: Way, secret = source.credentialsSecretRef ?? aside) => {
    setWay(next);
    setAside(secret);
    setCreated(undefined);
    const { credentialsSecretRef, accessKey, secretKey, auth, ...rest } = source;
    const own = { secret: { credentialsSecretRef: secret }, identity: { auth: "WorkloadIdentity" } };
    const kept = next === "secret" || next === "identity" ? { ...rest, ...own[next] } : rest;
    change({ ...input, source: kept }, "source.credentialsSecretRef");
  };
  const refer = (name: string) => {
    choose("secret", { name });
    setCreated(name);
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
      <FormGroup label="Credentials" role="radiogroup" fieldId="field-credentials">
        {inlineKept && type === "S3" && option("kept", "Keep the current keys", "Stored in the resource; never shown")}
        {option("secret", "Existing Secret", "Recommended")}
        {type === "S3" && option("inline", "Inline keys", "Stored in the resource, or in a new Secret")}
        {type === "GoogleCloudStorage" && option("new", "New Secret", "Made from a service account key")}
        {option("identity", "Workload identity", "Of the ServiceAccount of the pods, on EKS and GKE; requires the gate")}
        {type === "GoogleCloudStorage" && option("none", "None", "For public buckets")}
      </FormGroup>
      {created && <Alert component="p" isInline isPlain variant="success" title={`The Secret ${created} was created`} role="status" />}
      {way === "secret" && <Reference type={type} />}
      {way === "new" && <NewSecret type={type} onCreated={refer} />}
      {way === "inline" && (
        <Stack hasGutter>
          <StackItem>
            <Alert component="p" isInline variant="warning" title="Everyone who can read this Darkroom with kubectl can read inline keys">
              They are stored in the resource; this page and its API never show them. Prefer a Secret. Keys are not kept with unsaved changes: if you leave this page, enter them again.
            </Alert>
          </StackItem>
          <StackItem>
            <TextField path={["source", "accessKey"]} label="Access key" isRequired />
          </StackItem>
          <StackItem>
            <TextField path={["source", "secretKey"]} label="Secret key" isRequired type="password" />
          </StackItem>
          <StackItem>
            <NewSecret type={type} onCreated={refer} />
          </StackItem>
        </Stack>
      )}
    </>
  );
}

/** A reference to a Secret, and to its keys if they have unusual names. */
function Reference({ type }: { type: WithCredentials }) {
  const { input } = useForm();
  const [more, setMore] = useState(false);
  const entries = entriesOf(input.source, type);
  return (
    <>
      <TextField
        path={[...reference, "name"]}
        label="Secret"
        isRequired
        empty=""
        help={`Name of a Secret in the same namespace with ${listAnd(entries.map(({ key }) => key))}`}
      />
      {more ? (
        entries.map(({ field, label, usual }) => <TextField key={field} path={[...reference, field]} label={label} placeholder={usual} />)
      ) : (
        <div>
          <Button variant="link" isInline onClick={() => setMore(true)}>
            Use other entries of the Secret
          </Button>
        </div>
      )}
    </>
  );
}
