import { FormGroup, TextArea } from "@patternfly/react-core";
import { useRef, useState } from "react";
import { api } from "../api/client";
import type { Darkroom, NewSecret } from "../api/types";
import { nextName, suffixes, type WithCredentials } from "../form/secrets";
import { patchSeen } from "../form/versions";
import { PlainField } from "../layout/PlainField";
import { toast } from "../layout/toasts";
import { useStore } from "../live/useLive";
import { same } from "../model/merge";
import { typeOf } from "../model/model";
import { Confirm } from "./Confirm";

/** The fields of new keys, by the type of source. */
const fields = {
  S3: { accessKey: "Access key", secretKey: "Secret key" },
  GoogleCloudStorage: { credentialsJson: "Service account key (JSON)" },
} as const;

/** Stores new keys in a new Secret and references it. The previous Secret is kept, in case the new keys do not work. */
export default function RotateDialog({ darkroom, onClose }: { darkroom: Darkroom; onClose: () => void }) {
  const store = useStore();
  const [seen] = useState(darkroom);
  const { namespace, name, source, probe } = seen;
  const type: WithCredentials = typeOf(source) === "GoogleCloudStorage" ? "GoogleCloudStorage" : "S3";
  const before = source.credentialsSecretRef;
  /** The name of the new Secret, and the keys as they are typed. */
  const [body, setBody] = useState<Record<string, string> & NewSecret>(() => ({ namespace, name: nextName(`${name}-${suffixes[type]}`, before?.name) }));
  const secret = body.name;
  const asked = Object.entries(fields[type]);
  /** The Secret that was created before the change was rejected. */
  const created = useRef<NewSecret>(undefined);
  // New Secrets have the usual entries.
  const patch = { source: { credentialsSecretRef: { name: secret, accessKeyKey: null, secretKeyKey: null, credentialsJsonKey: null }, accessKey: null, secretKey: null } };
  const run = async () => {
    if (!same(created.current, body)) {
      await api.createSecret(body);
      created.current = body;
    }
    store.put(await patchSeen(seen, patch));
    onClose();
    toast(`${name} gets its keys from the Secret ${secret}.${before ? ` Once its pods are ready, delete the old one: kubectl -n ${namespace} delete secret ${before.name}` : ""}`);
  };
  const entries = asked.map(([field]) => `--from-file=${field === "credentialsJson" ? "credentials.json" : field}`).join(" ");
  return (
    <Confirm
      title={`Rotate the keys of ${name}?`}
      effect={
        <>
          The keys are stored in a new Secret, and <strong>source.credentialsSecretRef</strong> changes: {before ? before.name : "keys in the resource"} → {secret}. The pods are replaced one after another
          {probe ? ", once a new one has served the image with the new keys." : ". Without an image check, only visitors notice wrong keys."} {before ? `The Secret ${before.name} is kept.` : "The keys in the resource are removed, and a rollback cannot restore them."}
        </>
      }
      act="Rotate"
      command={`kubectl -n ${namespace} create secret generic ${secret} ${entries} && kubectl -n ${namespace} patch darkroom/${name} --type=merge -p '${JSON.stringify({ spec: patch })}'`}
      isDisabled={secret === "" || asked.some(([field]) => !body[field]?.trim())}
      isWide
      run={run}
      onClose={onClose}
    >
      {asked.map(([field, label]) => {
        const set = (text: string) => setBody({ ...body, [field]: text });
        const common = { id: `rotate-${field}`, value: body[field] ?? "" };
        return field === "credentialsJson" ? (
          <FormGroup key={field} label={label} fieldId={common.id} className="dr-required">
            <TextArea {...common} rows={6} autoComplete="off" spellCheck={false} onChange={(_, text) => set(text)} />
          </FormGroup>
        ) : (
          <PlainField key={field} {...common} label={label} type={field === "secretKey" ? "password" : "text"} isRequired onChange={set} />
        );
      })}
      <PlainField id="rotate-name" label="Name of the new Secret" isRequired value={secret} onChange={(text) => setBody({ ...body, name: text })} />
    </Confirm>
  );
}
