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
  /** What was entered for other types. */
  const [aside, setAside] = useState<Partial<Record<SourceType, SourceInput>>>({});
  const type = typeOf(input.source);
  return (
    <>
      <FormGroup label="Where are the images?" role="radiogroup" isRequired fieldId="field-source-type" className="dr-sources">
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
