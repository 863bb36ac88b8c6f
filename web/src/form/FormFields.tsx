import { Alert, FormGroup, FormSection, Radio } from "@patternfly/react-core";
import { useState } from "react";
import type { Darkroom } from "../api/types";
import { useSettings } from "../settings";
import { useAccess } from "../useAccess";
import { useNamespaces } from "../useNamespaces";
import { Advanced } from "./Advanced";
import { NumberField, TextField, useForm } from "./fields";
import { withValue } from "../model/model";
import { ProbePath } from "./ProbeFields";
import { SourceFields } from "./SourceFields";
import { SubDomains } from "./SubDomains";

/** The fields of the form. */
export function FormFields({ loaded }: { loaded?: Darkroom }) {
  const { darkroomVersion } = useSettings();
  return (
    <>
      <FormSection title="Name" titleElement="h2">
        <div className="dr-pair">
          <TextField path={["name"]} label="Name" isRequired isDisabled={Boolean(loaded)} placeholder="photos" empty="" />
          <Namespace isFixed={Boolean(loaded)} />
        </div>
        <Rights loaded={loaded} />
      </FormSection>
      <FormSection title="Source" titleElement="h2">
        <SourceFields loaded={loaded} />
        <ProbePath />
      </FormSection>
      <FormSection title="Domains" titleElement="h2">
        <SubDomains />
      </FormSection>
      <FormSection title="Deployment" titleElement="h2">
        <TextField path={["version"]} label="Version" placeholder={darkroomVersion} help={`Release of Darkroom; default: ${darkroomVersion}`} />
        <Scale />
      </FormSection>
      <Advanced />
    </>
  );
}

const suggestions = "known-namespaces";

function Namespace({ isFixed }: { isFixed: boolean }) {
  const known = useNamespaces();
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

/** Warns of missing rights. The cluster decides: trying stays possible. */
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
  const [replicas, setReplicas] = useState(input.replicas ?? 1);
  const automatic = input.autoscaling !== undefined;
  return (
    <>
      <FormGroup label="Pods" role="radiogroup" fieldId="field-scale" isInline>
        <Radio
          id="scale-fixed"
          name="scale"
          label="Fixed number"
          isChecked={!automatic}
          isDisabled={disabled}
          onChange={() => change({ ...withValue(input, ["autoscaling"], undefined), replicas }, "autoscaling")}
        />
        <Radio
          id="scale-automatic"
          name="scale"
          label="Autoscaling"
          isChecked={automatic}
          isDisabled={disabled}
          onChange={() => {
            setReplicas(input.replicas ?? 1);
            change({ ...input, autoscaling: { minReplicas: 1, maxReplicas: 3 } }, "autoscaling");
          }}
        />
      </FormGroup>
      {automatic ? (
        <div className="dr-pair">
          <NumberField path={["autoscaling", "minReplicas"]} label="Minimum pods" least={1} most={1000} />
          <NumberField path={["autoscaling", "maxReplicas"]} label="Maximum pods" least={1} most={1000} />
          <NumberField path={["autoscaling", "targetCPUUtilizationPercentage"]} label="Target CPU utilization (%)" least={1} isOptional placeholder="75" />
        </div>
      ) : (
        <NumberField
          path={["replicas"]}
          label="Number of pods"
          least={0}
          most={1000}
          unset={1}
          help={input.replicas === 0 ? "Scaled to zero: no images are served" : undefined}
        />
      )}
    </>
  );
}
