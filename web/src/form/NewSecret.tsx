import { Alert, Button, FormGroup, TextArea } from "@patternfly/react-core";
import { useEffect, useState } from "react";
import { api } from "../api/client";
import type { Problem } from "../api/problem";
import { missingRight } from "../layout/MissingRight";
import { PlainField } from "../layout/PlainField";
import { useAccess } from "../useAccess";
import { useSending } from "../useSending";
import { useForm } from "./fields";
import { suffixes, type WithCredentials } from "./secrets";

/**
 * Stores credentials in a new Secret: the inline keys of the form, or a service account key, which is never part of the
 * form's input and so never part of a draft.
 */
export function NewSecret({ type, onCreated }: { type: WithCredentials; onCreated: (name: string) => void }) {
  const { input, disabled } = useForm();
  const [typed, setTyped] = useState<string>();
  const [key, setKey] = useState("");
  const [created, setCreated] = useState<string>();
  const { name: ofDarkroom = "", namespace = "", source: { accessKey, secretKey } } = input;
  const mayCreate = useAccess(namespace)?.createSecret;
  const name = typed ?? `${ofDarkroom || "darkroom"}-${suffixes[type]}`;
  const complete = name !== "" && (type === "S3" ? Boolean(accessKey && secretKey) : key.trim() !== "");
  const { busy, problem, run } = useSending(async () => {
    await api.createSecret({ namespace, name, ...(type === "S3" ? { accessKey, secretKey } : { credentialsJson: key }) });
    setCreated(name);
  });
  useEffect(() => {
    // The user may continue typing, so onCreated is the current callback.
    if (created !== undefined) {
      onCreated(created);
    }
  }, [created, onCreated]);
  const reason = mayCreate === false ? missingRight("createSecret", namespace) : !complete ? incomplete[type] : undefined;
  return (
    <div className="dr-stack">
      {type === "GoogleCloudStorage" && (
        <FormGroup label="Service account key (JSON)" fieldId="new-secret-key" className="dr-required">
          <TextArea
            id="new-secret-key"
            value={key}
            rows={6}
            resizeOrientation="vertical"
            isDisabled={disabled || busy}
            autoComplete="off"
            spellCheck={false}
            placeholder='{"type": "service_account", …}'
            onChange={(_, text) => setKey(text)}
          />
        </FormGroup>
      )}
      <PlainField
        id="new-secret-name"
        label="Name of the new Secret"
        value={name}
        isDisabled={disabled || busy}
        hint={reason ?? `It is created in the namespace ${namespace} at once, and remains if the Darkroom is deleted.`}
        onChange={setTyped}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
            // Enter would submit the outer form.
            event.preventDefault();
          }
        }}
      />
      {problem && (
        <Alert component="p" isInline variant="danger" title="The Secret was not created" role="alert">
          {messagesOf(problem)}
        </Alert>
      )}
      <div>
        <Button variant="secondary" isDisabled={disabled || busy || reason !== undefined} isLoading={busy} onClick={run}>
          {type === "S3" ? "Create a Secret from these keys" : "Create the Secret"}
        </Button>
      </div>
    </div>
  );
}

const incomplete: Record<WithCredentials, string> = {
  S3: "Enter both keys to store them in a Secret.",
  GoogleCloudStorage: "Paste the key to store it in a Secret.",
};

/** The errors of fields, or the problem as a whole. */
const messagesOf = ({ errors, message }: Problem): string =>
  errors.length > 0 ? errors.map((error) => `${(error.location ?? "").replace(/^body\.?/, "")}: ${error.message}`).join("; ") : message;
