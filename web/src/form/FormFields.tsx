import { Alert, Content, ExpandableSection, FormGroup, FormSection, Radio } from "@patternfly/react-core";
import { useState } from "react";
import type { Darkroom, DarkroomInput } from "../api/types";
import { useSettings } from "../settings";
import { useAccess, useNamespaces } from "../useAccess";
import { list } from "../words/format";
import { NumberField, SelectField, TextField, Toggle, useForm } from "./fields";
import { chosenDomain } from "../model/domains";
import { withValue } from "../model/model";
import { GateSettings, GateSwitch } from "./Gate";
import { ProbePath, ProbeTimes } from "./ProbeFields";
import { SourceFields } from "./SourceFields";
import { BaseDomain, SubDomains } from "./SubDomains";

/** The fields of a Darkroom. For a new Darkroom, only the fields needed for a first image are unfolded. */
export function FormFields({ loaded }: { loaded?: Darkroom }) {
  const settings = useSettings();
  const { darkroomVersion } = settings;
  const { input, errors, target } = useForm();
  const baseDomain = chosenDomain(input, settings.baseDomain);
  // With several namespaces, the user should choose one.
  const several = (useNamespaces().value?.create.length ?? 0) > 1 && !loaded;
  const asked = (location: string) => /^(name$|source|probe\.path|gate$)/.test(location) || (several && location === "namespace");
  const [opened, setOpened] = useState(loaded !== undefined || !input.namespace || (target !== undefined && !asked(target)));
  if (!opened && errors.some(({ location }) => !asked(location))) {
    // Unfolds for errors, and stays unfolded when they are corrected.
    setOpened(true);
  }
  const { name = "", subDomains } = input;
  // The name is the sub-domain until the user changes it.
  const follows = !loaded && (subDomains.length === 0 || (subDomains.length === 1 && subDomains[0] === name));
  return (
    <>
      <SourceFields loaded={loaded} />
      <ProbePath />
      <TextField
        path={["name"]}
        label="Name"
        isRequired
        isDisabled={loaded !== undefined}
        placeholder="photos"
        set={(next) => ({ ...input, name: next, ...(follows ? { subDomains: next ? [next] : [] } : {}) })}
        help={!loaded && subDomains.length > 0 && `In the namespace ${input.namespace ?? ""}, at ${list(subDomains.map((subDomain) => `${subDomain}.${baseDomain}`))}`}
      />
      {several && <Namespace isFixed={false} />}
      {!loaded && <GateSwitch />}
      <Rights loaded={loaded} />
      <ExpandableSection toggleText="More settings" isExpanded={opened} onToggle={(_, next) => setOpened(next)}>
        <FormSection>
          {!several && <Namespace isFixed={loaded !== undefined} />}
          <SubDomains />
          <BaseDomain />
          <TextField path={["version"]} label="Version" placeholder={darkroomVersion} help />
          <Scale />
          <div className="dr-pair">
            <NumberField path={["cacheTTLSeconds"]} label="Browser cache TTL (seconds)" isOptional />
            <SelectField path={["logLevel"]} label="Log level" />
          </div>
          <ProbeTimes />
          {loaded && <GateSwitch />}
          <GateSettings />
          <TextField path={["image", "repository"]} label="Image" placeholder="gojektech/darkroom" help />
          {!input.gateway && (
            <div className="dr-pair">
              <TextField path={["ingress", "className"]} label="Ingress class" />
              <TextField path={["ingress", "tlsSecretName"]} label="TLS Secret" help />
            </div>
          )}
          <div className="dr-pair">
            <TextField path={["resources", "requests", "cpu"]} label="CPU request" placeholder="100m" />
            <TextField path={["resources", "requests", "memory"]} label="Memory request" placeholder="128Mi" />
            <TextField path={["resources", "limits", "memory"]} label="Memory limit" placeholder="2Gi" />
          </div>
          <SelectField path={["service", "ipFamilyPolicy"]} label="IP families of the Services" />
          <Toggle path={["metrics", "enabled"]} label="Expose Prometheus metrics" />
          <Toggle path={["networkPolicy", "enabled"]} label="Restrict pod traffic with a NetworkPolicy" />
          <Content component="small" className="dr-quiet">
            Use the YAML tab for additional sources, gateways, presets of the gate, environment variables, pod templates and other settings.
          </Content>
        </FormSection>
      </ExpandableSection>
    </>
  );
}

const suggestions = "known-namespaces";

function Namespace({ isFixed }: { isFixed: boolean }) {
  const known = useNamespaces().value?.create ?? [];
  return (
    <>
      <TextField path={["namespace"]} label="Namespace" isRequired isDisabled={isFixed} list={suggestions} empty="" />
      <datalist id={suggestions}>
        {known.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

/** Warns of missing permissions. The cluster decides, so saving stays possible. */
function Rights({ loaded }: { loaded: Darkroom | undefined }) {
  const { input } = useForm();
  const namespace = input.namespace ?? "";
  const value = useAccess(namespace, loaded?.name);
  if (!value || (loaded ? value.update : value.create)) {
    return null;
  }
  return (
    <Alert
      component="p"
      isInline
      isPlain
      variant="warning"
      title={loaded ? "You have read-only access to this Darkroom" : `You cannot create Darkrooms in the namespace ${namespace}`}
    />
  );
}

function Scale() {
  const { input, change, disabled } = useForm();
  /** The previous autoscaling, restored when it is turned on again. */
  const [aside, setAside] = useState<DarkroomInput["autoscaling"]>({ minReplicas: 1, maxReplicas: 3 });
  const automatic = input.autoscaling !== undefined;
  const turn = (on: boolean) => {
    setAside(input.autoscaling ?? aside);
    change(withValue(input, ["autoscaling"], on ? aside : undefined), "autoscaling");
  };
  return (
    <>
      <FormGroup label="Pods" role="radiogroup" fieldId="field-scale" isInline>
        <Radio
          id="scale-fixed"
          name="scale"
          label="Fixed number"
          isChecked={!automatic}
          isDisabled={disabled}
          onChange={() => turn(false)}
        />
        <Radio
          id="scale-automatic"
          name="scale"
          label="Autoscaling"
          isChecked={automatic}
          isDisabled={disabled}
          onChange={() => turn(true)}
        />
      </FormGroup>
      {automatic ? (
        <div className="dr-pair">
          <NumberField path={["autoscaling", "minReplicas"]} label="Minimum pods" />
          <NumberField path={["autoscaling", "maxReplicas"]} label="Maximum pods" />
          <NumberField path={["autoscaling", "targetCPUUtilizationPercentage"]} label="Target CPU utilization (%)" isOptional />
        </div>
      ) : (
        <NumberField
          path={["replicas"]}
          label="Number of pods"
          help={input.replicas === 0 ? "Scaled to zero: no images are served" : undefined}
        />
      )}
    </>
  );
}
