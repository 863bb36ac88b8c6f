import { Alert, Button, Checkbox, FormGroup, Radio, Stack, StackItem } from "@patternfly/react-core";
import { useState } from "react";
import { sourceTypes, type Darkroom, type SourceInput } from "../api/types";
import { sourceNames, typeOf } from "../words/sources";
import { TextField, useForm } from "./fields";
import { movesKeys, switchSource, withValue } from "./model";

/** The type of source, and its fields. */
export function SourceFields({ loaded }: { loaded: Darkroom | undefined }) {
  const { input, change, disabled } = useForm();
  const [aside, setAside] = useState<SourceInput>({});
  const type = typeOf(input.source);
  return (
    <>
      <FormGroup label="Source" role="radiogroup" isRequired fieldId="field-source-type" className="dr-sources">
        {sourceTypes.map((name) => (
          <Radio
            key={name}
            id={`source-${name}`}
            name="source"
            label={sourceNames[name].name}
            description={sourceNames[name].hint}
            isChecked={type === name}
            isDisabled={disabled}
            onChange={() => {
              const next = switchSource(input.source, name, aside);
              setAside(next.aside);
              change({ ...input, source: next.source }, "source.type");
            }}
          />
        ))}
      </FormGroup>
      {type === "WebFolder" && (
        <TextField
          path={["source", "baseUrl"]}
          label="Base URL"
          isRequired
          type="url"
          placeholder="https://example.com/images"
          help="/cat.jpg is fetched from this URL followed by /cat.jpg"
        />
      )}
      {(type === "S3" || type === "GoogleCloudStorage") && <TextField path={["source", "bucket"]} label="Bucket" isRequired />}
      {type === "S3" && (
        <>
          <TextField path={["source", "region"]} label="Region" isRequired placeholder="eu-west-2" />
          <TextField path={["source", "endpoint"]} label="Endpoint" type="url" placeholder="https://minio.example.com:9000" help="URL of an S3-compatible service; default: Amazon S3" />
        </>
      )}
      {type === "CloudFront" && (
        <>
          <TextField path={["source", "host"]} label="Host" isRequired placeholder="d111111abcdef8.cloudfront.net" />
          <Checkbox
            id="field-source-secureProtocol"
            label="Fetch over HTTPS"
            isDisabled={disabled}
            isChecked={input.source.secureProtocol !== false}
            onChange={(_, secure) => change(withValue(input, ["source", "secureProtocol"], secure ? undefined : false), "source.secureProtocol")}
          />
        </>
      )}
      {(type === "S3" || type === "CloudFront") && (
        <TextField path={["source", "pathPrefix"]} label="Path prefix" placeholder="/uploads" help="Serve only paths with this prefix; default: all" />
      )}
      {(type === "S3" || type === "GoogleCloudStorage") && <Credentials type={type} loaded={loaded} key={type} />}
    </>
  );
}

type Way = "secret" | "inline" | "none" | "kept";

function Credentials({ type, loaded }: { type: "S3" | "GoogleCloudStorage"; loaded: Darkroom | undefined }) {
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
  const [more, setMore] = useState(false);
  // Keys that cannot be kept must be entered.
  const way = chosen === "kept" && !inlineKept ? "inline" : chosen;
  const choose = (next: Way) => {
    setWay(next);
    const { credentialsSecretRef, accessKey, secretKey, ...rest } = source;
    const kept = next === "secret" ? { ...rest, credentialsSecretRef: credentialsSecretRef ?? { name: "" } } : rest;
    change({ ...input, source: kept }, "source.credentialsSecretRef");
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
        {type === "S3" && option("inline", "Inline keys", "Stored in the resource")}
        {type === "GoogleCloudStorage" && option("none", "None", "For public buckets")}
      </FormGroup>
      {way === "secret" && (
        <>
          <TextField path={["source", "credentialsSecretRef", "name"]} label="Secret" isRequired empty="" help={`A Secret in the same namespace with ${secretKeys(input.source, type)}`} />
          {more ? (
            type === "S3" ? (
              <>
                <TextField path={["source", "credentialsSecretRef", "accessKeyKey"]} label="Access key entry" placeholder="accessKey" />
                <TextField path={["source", "credentialsSecretRef", "secretKeyKey"]} label="Secret key entry" placeholder="secretKey" />
              </>
            ) : (
              <TextField path={["source", "credentialsSecretRef", "credentialsJsonKey"]} label="Service account key entry" placeholder="credentials.json" />
            )
          ) : (
            <div>
              <Button variant="link" isInline onClick={() => setMore(true)}>
                Use other entries of the Secret
              </Button>
            </div>
          )}
        </>
      )}
      {way === "inline" && (
        <Stack hasGutter>
          <StackItem>
            <Alert component="p" isInline variant="warning" title="Everyone who can read this Darkroom with kubectl can read inline keys">
              They are stored in the resource; this page and its API never show them. Prefer a Secret. Keys are not kept
              with unsaved changes: if you leave this page, enter them again.
            </Alert>
          </StackItem>
          <StackItem>
            <TextField path={["source", "accessKey"]} label="Access key" isRequired />
          </StackItem>
          <StackItem>
            <TextField path={["source", "secretKey"]} label="Secret key" isRequired type="password" />
          </StackItem>
        </Stack>
      )}
    </>
  );
}

function secretKeys(source: SourceInput, type: "S3" | "GoogleCloudStorage"): string {
  const ref = source.credentialsSecretRef;
  return type === "S3"
    ? `${ref?.accessKeyKey ?? "accessKey"} and ${ref?.secretKeyKey ?? "secretKey"}`
    : (ref?.credentialsJsonKey ?? "credentials.json");
}
