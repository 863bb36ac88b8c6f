import { Content, ExpandableSection, FormGroup, FormSelect, FormSelectOption, FormSection, Switch } from "@patternfly/react-core";
import { useState } from "react";
import { Help, NumberField, TextField, useForm } from "./fields";
import { ProbeTimes } from "./ProbeFields";
import { messagesAt, probeBounds } from "./validate";
import { valueAt, withValue, type Path } from "./model";

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
  const { input, errors, change, disabled } = useForm();
  const [opened, setOpened] = useState(false);
  // An error must not hide in a closed section.
  const open = opened || advanced.some((field) => messagesAt(errors, field).length > 0);
  return (
    <ExpandableSection toggleText="Advanced" isExpanded={open} onToggle={(_, expanded) => setOpened(expanded)}>
      <FormSection>
        <div className="dr-pair">
          <NumberField path={["cacheTTLSeconds"]} label="Browser cache TTL (seconds)" isOptional placeholder="31536000" />
          <FormGroup label="Log level" fieldId="field-logLevel">
            <FormSelect
              id="field-logLevel"
              isDisabled={disabled}
              value={input.logLevel ?? ""}
              onChange={(_, level) => change(withValue(input, ["logLevel"], level || undefined), "logLevel")}
            >
              <FormSelectOption value="" label="info (default)" />
              {logLevels.map((level) => (
                <FormSelectOption key={level} value={level} label={level} />
              ))}
            </FormSelect>
            <Help location="logLevel" />
          </FormGroup>
        </div>
        <ProbeTimes />
        <TextField path={["image", "repository"]} label="Image" placeholder="gojektech/darkroom" help="Repository without a tag, for mirrors; the version is the tag" />
        {!input.gateway && (
          <div className="dr-pair">
            <TextField path={["ingress", "className"]} label="Ingress class" help="Default: that of the operator or the cluster" />
            <TextField path={["ingress", "tlsSecretName"]} label="TLS Secret" help="Certificate for all hosts" />
          </div>
        )}
        <div className="dr-pair">
          <TextField path={["resources", "requests", "cpu"]} label="CPU request" placeholder="100m" />
          <TextField path={["resources", "requests", "memory"]} label="Memory request" placeholder="128Mi" />
          <TextField path={["resources", "limits", "memory"]} label="Memory limit" placeholder="2Gi" />
        </div>
        <FormGroup label="IP families of the Services" fieldId="field-service-ipFamilyPolicy">
          <FormSelect
            id="field-service-ipFamilyPolicy"
            isDisabled={disabled}
            value={input.service?.ipFamilyPolicy ?? ""}
            onChange={(_, policy) => change(withValue(input, ["service", "ipFamilyPolicy"], policy || undefined), "service.ipFamilyPolicy")}
          >
            <FormSelectOption value="" label="Default of the cluster" />
            {ipFamilyPolicies.map((policy) => (
              <FormSelectOption key={policy} value={policy} label={policy} />
            ))}
          </FormSelect>
          <Help location="service.ipFamilyPolicy" />
        </FormGroup>
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
