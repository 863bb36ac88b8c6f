import { Content, ExpandableSection, FormSection, Switch } from "@patternfly/react-core";
import { useState } from "react";
import { t } from "../words/t";
import { NumberField, SelectField, TextField, useForm } from "./fields";
import { ProbeTimes } from "./ProbeFields";
import { SecretField } from "./SecretField";
import { useSecrets } from "./secrets";
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
  const { input, errors } = useForm();
  const [opened, setOpened] = useState(false);
  // An error must not hide in a closed section.
  const open = opened || advanced.some((field) => messagesAt(errors, field).length > 0);
  return (
    <ExpandableSection toggleText={t("Advanced")} isExpanded={open} onToggle={(_, expanded) => setOpened(expanded)}>
      <FormSection>
        <div className="dr-pair">
          <NumberField path={["cacheTTLSeconds"]} label={t("Browser cache TTL (seconds)")} isOptional placeholder="31536000" />
          <SelectField path={["logLevel"]} label={t("Log level")} unset={t("info (default)")} options={logLevels} />
        </div>
        <ProbeTimes />
        <TextField path={["image", "repository"]} label={t("Image")} placeholder="gojektech/darkroom" help={t("Repository without a tag, for mirrors; the version is the tag")} />
        {!input.gateway && (
          <div className="dr-pair">
            <TextField path={["ingress", "className"]} label={t("Ingress class")} help={t("Default: that of the operator or the cluster")} />
            {open && <TlsSecret />}
          </div>
        )}
        <div className="dr-pair">
          <TextField path={["resources", "requests", "cpu"]} label={t("CPU request")} placeholder="100m" />
          <TextField path={["resources", "requests", "memory"]} label={t("Memory request")} placeholder="128Mi" />
          <TextField path={["resources", "limits", "memory"]} label={t("Memory limit")} placeholder="2Gi" />
        </div>
        <SelectField path={["service", "ipFamilyPolicy"]} label={t("IP families of the Services")} unset={t("Default of the cluster")} options={ipFamilyPolicies} />
        <Toggle path={["metrics", "enabled"]} label={t("Expose Prometheus metrics")} />
        <Toggle path={["networkPolicy", "enabled"]} label={t("Restrict pod traffic with a NetworkPolicy")} />
        <Content component="small" className="dr-quiet">
          {t("Use the YAML tab for gateways, environment variables, pod templates and other settings.")}
        </Content>
      </FormSection>
    </ExpandableSection>
  );
}

/** The Secret with the certificate of all hosts. */
function TlsSecret() {
  const { input } = useForm();
  const secrets = useSecrets(input.namespace ?? "", true);
  return (
    <SecretField
      path={["ingress", "tlsSecretName"]}
      label={t("TLS Secret")}
      purpose={t("Has the certificate for all hosts.")}
      keys={["tls.crt", "tls.key"]}
      secrets={secrets}
    />
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
