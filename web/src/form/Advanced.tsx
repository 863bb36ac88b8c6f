import { Content, ExpandableSection, FormSection, Switch } from "@patternfly/react-core";
import { useState } from "react";
import { NumberField, SelectField, TextField, useForm } from "./fields";
import { ProbeTimes } from "./ProbeFields";
import { messagesAt, probeBounds } from "./validate";
import { valueAt, withValue, type Path } from "../model/model";

/** Fields of this section. */
const advanced = [
  "cacheTTLSeconds",
  "logLevel",
  "image",
  "ingress",
  "resources",
  "metrics",
  "service",
  "networkPolicy",
  ...Object.keys(probeBounds).map((field) => `probe.${field}`),
];
const ipFamilyPolicies = ["SingleStack", "PreferDualStack", "RequireDualStack"];
const logLevels = ["debug", "info", "warn", "error", "fatal", "panic"];

/** Less common settings. All others are in the YAML. */
export function Advanced() {
  const { input, errors } = useForm();
  const [opened, setOpened] = useState(false);
  // An error must not hide in a closed section.
  const open = opened || advanced.some((field) => messagesAt(errors, field).length > 0);
  return (
    <ExpandableSection toggleText="Advanced" isExpanded={open} onToggle={(_, expanded) => setOpened(expanded)}>
      <FormSection>
        <div className="dr-pair">
          <NumberField path={["cacheTTLSeconds"]} label="Browser cache TTL (seconds)" isOptional placeholder="31536000" />
          <SelectField path={["logLevel"]} label="Log level" unset="info (default)" options={logLevels} />
        </div>
        <ProbeTimes />
        <TextField path={["image", "repository"]} label="Image" placeholder="gojektech/darkroom" help="Repository without a tag, for mirrors; the version is the tag" />
        {!input.gateway && (
          <div className="dr-pair">
            <TextField path={["ingress", "className"]} label="Ingress class" help="Default: that of the operator or the cluster" />
            <TextField path={["ingress", "tlsSecretName"]} label="TLS Secret" help="A Secret in the same namespace with tls.crt and tls.key for all hosts" />
          </div>
        )}
        <div className="dr-pair">
          <TextField path={["resources", "requests", "cpu"]} label="CPU request" placeholder="100m" />
          <TextField path={["resources", "requests", "memory"]} label="Memory request" placeholder="128Mi" />
          <TextField path={["resources", "limits", "memory"]} label="Memory limit" placeholder="2Gi" />
        </div>
        <SelectField path={["service", "ipFamilyPolicy"]} label="IP families of the Services" unset="Default of the cluster" options={ipFamilyPolicies} />
        <Toggle path={["metrics", "enabled"]} label="Expose Prometheus metrics" />
        <Toggle path={["networkPolicy", "enabled"]} label="Restrict pod traffic with a NetworkPolicy" />
        <Content component="small" className="dr-quiet">
          Use the YAML tab for gateways, environment variables, pod templates and other settings.
        </Content>
      </FormSection>
    </ExpandableSection>
  );
}

function Toggle({ path, label }: { path: Path; label: string }) {
  const { input, change, disabled } = useForm();
  return (
    <Switch
      id={`field-${path.join("-")}`}
      label={label}
      isDisabled={disabled}
      isChecked={valueAt(input, path) === true}
      onChange={(_, on) => change(withValue(input, path, on || undefined), path.join("."))}
    />
  );
}
