import { Checkbox, FormGroup, Radio } from "@patternfly/react-core";
import { useState } from "react";
import { sourceTypes, type Darkroom, type SourceInput } from "../api/types";
import { sourceNames, typeOf } from "../words/sources";
import { t } from "../words/t";
import { Credentials } from "./Credentials";
import { TextField, useForm } from "./fields";
import { switchSource, withValue } from "./model";

/** The type of source, and its fields. */
export function SourceFields({ loaded }: { loaded: Darkroom | undefined }) {
  const { input, change, disabled } = useForm();
  const [aside, setAside] = useState<SourceInput>({});
  const type = typeOf(input.source);
  return (
    <>
      <FormGroup label={t("Source")} role="radiogroup" isRequired fieldId="field-source-type" className="dr-sources">
        {sourceTypes.map((name) => (
          <Radio
            key={name}
            id={`source-${name}`}
            name="source"
            label={t(sourceNames[name].name)}
            description={t(sourceNames[name].hint)}
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
          label={t("Base URL")}
          isRequired
          type="url"
          placeholder="https://example.com/images"
          help={t("/cat.jpg is fetched from this URL followed by /cat.jpg")}
        />
      )}
      {(type === "S3" || type === "GoogleCloudStorage") && <TextField path={["source", "bucket"]} label={t("Bucket")} isRequired />}
      {type === "S3" && (
        <>
          <TextField path={["source", "region"]} label={t("Region")} isRequired placeholder="eu-west-2" />
          <TextField path={["source", "endpoint"]} label={t("Endpoint")} type="url" placeholder="https://minio.example.com:9000" help={t("URL of an S3-compatible service; default: Amazon S3")} />
        </>
      )}
      {type === "CloudFront" && (
        <>
          <TextField path={["source", "host"]} label={t("Host")} isRequired placeholder="d111111abcdef8.cloudfront.net" />
          <Checkbox
            id="field-source-secureProtocol"
            label={t("Fetch over HTTPS")}
            isDisabled={disabled}
            isChecked={input.source.secureProtocol !== false}
            onChange={(_, secure) => change(withValue(input, ["source", "secureProtocol"], secure ? undefined : false), "source.secureProtocol")}
          />
        </>
      )}
      {(type === "S3" || type === "CloudFront") && (
        <TextField path={["source", "pathPrefix"]} label={t("Path prefix")} placeholder="/uploads" help={t("Serve only paths with this prefix; default: all")} />
      )}
      {(type === "S3" || type === "GoogleCloudStorage") && <Credentials type={type} loaded={loaded} key={type} />}
    </>
  );
}
