import { Checkbox, FormGroup, Radio } from "@patternfly/react-core";
import { useState } from "react";
import { sourceTypes, type Darkroom, type SourceInput, type SourceType } from "../api/types";
import { sourceNames } from "../words/sources";
import { Credentials } from "./Credentials";
import { TextField, useForm } from "./fields";
import { typeOf, withValue } from "../model/model";

/** The type of source, and its fields. */
export function SourceFields({ loaded }: { loaded: Darkroom | undefined }) {
  const { input, change, disabled } = useForm();
  /** The input for other types, restored when the type is chosen again. */
  const [aside, setAside] = useState<Partial<Record<SourceType, SourceInput>>>({});
  const type = typeOf(input.source);
  return (
    <>
      <FormGroup label="Where are the images?" role="radiogroup" fieldId="field-source-type" className="dr-sources dr-required">
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
              setAside({ ...aside, [type]: input.source });
              change({ ...input, source: { ...aside[name], type: name } }, "source.type");
            }}
          />
        ))}
      </FormGroup>
      <PlaceFields type={type} />
      {type === "CloudFront" && (
        <Checkbox
          id="field-source-secureProtocol"
          label="Fetch over HTTPS"
          isDisabled={disabled}
          isChecked={input.source.secureProtocol !== false}
          onChange={(_, secure) => change(withValue(input, ["source", "secureProtocol"], secure ? undefined : false), "source.secureProtocol")}
        />
      )}
      {(type === "S3" || type === "CloudFront") && (
        <TextField path={["source", "pathPrefix"]} label="Path prefix" placeholder="/uploads" help />
      )}
      {(type === "S3" || type === "GoogleCloudStorage") && <Credentials type={type} loaded={loaded} key={type} />}
    </>
  );
}

/** The location fields of a source, by type. */
function PlaceFields({ type }: { type: SourceType }) {
  switch (type) {
    case "WebFolder":
      return <TextField path={["source", "baseUrl"]} label="Base URL" isRequired type="url" placeholder="https://example.com/images" help />;
    case "GoogleCloudStorage":
      return <TextField path={["source", "bucket"]} label="Bucket" isRequired />;
    case "CloudFront":
      return <TextField path={["source", "host"]} label="Host" isRequired placeholder="d111111abcdef8.cloudfront.net" />;
    case "S3":
      return (
        <>
          <TextField path={["source", "bucket"]} label="Bucket" isRequired />
          <TextField path={["source", "region"]} label="Region" isRequired placeholder="eu-west-2" />
          <TextField path={["source", "endpoint"]} label="Endpoint" type="url" placeholder="https://minio.example.com:9000" help />
        </>
      );
  }
}
