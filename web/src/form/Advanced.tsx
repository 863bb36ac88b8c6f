import { Content, ExpandableSection, FormGroup, FormSelect, FormSelectOption, FormSection, Switch } from "@patternfly/react-core";
import { useState } from "react";
import { Help, NumberField, TextField, useForm } from "./fields";
import { valueAt, withValue, type Path } from "./model";

const logLevels = ["debug", "info", "warn", "error", "fatal", "panic"];

/** What few need. What is not here either is in the YAML. */
export function Advanced() {
  const { input, change, disabled } = useForm();
  const [open, setOpen] = useState(false);
  return (
    <ExpandableSection toggleText="Advanced" isExpanded={open} onToggle={(_, expanded) => setOpen(expanded)}>
      <FormSection>
        <div className="dr-pair">
          <NumberField path={["cacheTTLSeconds"]} label="Browsers keep pictures (seconds)" isOptional placeholder="31536000" />
          <FormGroup label="Log level" fieldId="field-logLevel">
            <FormSelect
              id="field-logLevel"
              isDisabled={disabled}
              value={input.logLevel ?? ""}
              onChange={(_, level) => change(withValue(input, ["logLevel"], level || undefined), "logLevel")}
            >
              <FormSelectOption value="" label="info (as usual)" />
              {logLevels.map((level) => (
                <FormSelectOption key={level} value={level} label={level} />
              ))}
            </FormSelect>
            <Help location="logLevel" />
          </FormGroup>
        </div>
        <TextField path={["image", "repository"]} label="Image" placeholder="gojektech/darkroom" help="Without a tag, which is the version; for mirrors" />
        {!input.gateway && (
          <div className="dr-pair">
            <TextField path={["ingress", "className"]} label="Ingress class" help="Empty means the operator's or the cluster's" />
            <TextField path={["ingress", "tlsSecretName"]} label="TLS Secret" help="With the certificate of the hosts" />
          </div>
        )}
        <div className="dr-pair">
          <TextField path={["resources", "requests", "cpu"]} label="CPU request" placeholder="100m" />
          <TextField path={["resources", "requests", "memory"]} label="Memory request" placeholder="128Mi" />
          <TextField path={["resources", "limits", "memory"]} label="Memory limit" placeholder="2Gi" />
        </div>
        <Toggle path={["metrics", "enabled"]} label="Serve Prometheus metrics" />
        <Toggle path={["networkPolicy", "enabled"]} label="Restrict the pods' traffic by a NetworkPolicy" />
        <Content component="small" className="dr-quiet">
          Gateways, environment variables, pod templates and the rest are in the YAML.
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
