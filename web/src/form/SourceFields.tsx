import { Alert, Button, Checkbox, FormGroup, Radio, Stack, StackItem } from "@patternfly/react-core";
import { useState } from "react";
import { sourceTypes, type SourceInput } from "../api/types";
import { sourceNames, typeOf } from "../words/sources";
import { TextField, useForm } from "./fields";
import { switchSource, withValue } from "./model";

/** The kind of source, and the fields of that kind. */
export function SourceFields({ inlineKept }: { inlineKept: boolean }) {
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
          help="A picture at /cat.jpg is fetched from this URL followed by /cat.jpg"
        />
      )}
      {(type === "S3" || type === "GoogleCloudStorage") && <TextField path={["source", "bucket"]} label="Bucket" isRequired />}
      {type === "S3" && (
        <>
          <TextField path={["source", "region"]} label="Region" isRequired placeholder="eu-west-2" />
          <TextField path={["source", "endpoint"]} label="Endpoint" type="url" placeholder="https://minio.example.com:9000" help="Of a compatible service; empty means Amazon S3" />
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
        <TextField path={["source", "pathPrefix"]} label="Path prefix" placeholder="/uploads" help="Only paths that start with it are served; empty means all" />
      )}
      {(type === "S3" || type === "GoogleCloudStorage") && <Credentials type={type} inlineKept={inlineKept} key={type} />}
    </>
  );
}

type Way = "secret" | "inline" | "none" | "kept";

function Credentials({ type, inlineKept }: { type: "S3" | "GoogleCloudStorage"; inlineKept: boolean }) {
  const { input, change, disabled } = useForm();
  const { source } = input;
  const [way, setWay] = useState<Way>(() => {
    if (source.credentialsSecretRef) {
      return "secret";
    }
    if (source.accessKey || source.secretKey) {
      return "inline";
    }
    if (type === "GoogleCloudStorage") {
      return "none";
    }
    return inlineKept ? "kept" : "secret";
  });
  const [more, setMore] = useState(false);
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
        {inlineKept && type === "S3" && option("kept", "Keep the present keys", "They are stored in the resource, and are not shown")}
        {option("secret", "From an existing Secret", "Recommended: the keys never pass this page")}
        {type === "S3" && option("inline", "Keys typed here", "They become part of the resource")}
        {type === "GoogleCloudStorage" && option("none", "None", "The bucket is public")}
      </FormGroup>
      {way === "secret" && (
        <>
          <TextField path={["source", "credentialsSecretRef", "name"]} label="Secret" isRequired empty="" help={`In the namespace of the Darkroom; holds ${secretKeys(input.source, type)}`} />
          {more ? (
            type === "S3" ? (
              <>
                <TextField path={["source", "credentialsSecretRef", "accessKeyKey"]} label="Key of the access key" placeholder="accessKey" />
                <TextField path={["source", "credentialsSecretRef", "secretKeyKey"]} label="Key of the secret key" placeholder="secretKey" />
              </>
            ) : (
              <TextField path={["source", "credentialsSecretRef", "credentialsJsonKey"]} label="Key of the service account key" placeholder="credentials.json" />
            )
          ) : (
            <div>
              <Button variant="link" isInline onClick={() => setMore(true)}>
                The Secret has other keys
              </Button>
            </div>
          )}
        </>
      )}
      {way === "inline" && (
        <Stack hasGutter>
          <StackItem>
            <Alert component="p" isInline variant="warning" title="Whoever may read this Darkroom with kubectl reads these keys">
              Keys typed here are stored in the resource itself. They are not shown by this page or its API. A Secret keeps
              them from all who may only read Darkrooms.
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
