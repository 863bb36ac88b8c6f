import { Alert, FormGroup, FormSection, Radio } from "@patternfly/react-core";
import { useMemo, useState } from "react";
import { api } from "../api/client";
import type { Darkroom } from "../api/types";
import { useSettings } from "../settings";
import { useSnapshot } from "../live/useLive";
import { useLoaded } from "../useLoaded";
import { Advanced } from "./Advanced";
import { NumberField, TextField, useForm } from "./fields";
import { withValue } from "./model";
import { SourceFields } from "./SourceFields";
import { SubDomains } from "./SubDomains";

/** The fields of the form, in the order in which one thinks of them. */
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
      <FormSection title="Where the pictures come from" titleElement="h2">
        <SourceFields inlineKept={loaded?.source.credentials === "inline"} />
      </FormSection>
      <FormSection title="Where they are served" titleElement="h2">
        <SubDomains />
      </FormSection>
      <FormSection title="What runs" titleElement="h2">
        <TextField path={["version"]} label="Version" placeholder={darkroomVersion} help={`Release of Darkroom; empty means ${darkroomVersion}, the operator's own`} />
        <Scale />
      </FormSection>
      <Advanced />
    </>
  );
}

const suggestions = "known-namespaces";

function Namespace({ isFixed }: { isFixed: boolean }) {
  const { namespaces } = useSettings();
  const { darkrooms } = useSnapshot();
  const known = useMemo(() => [...new Set([...namespaces, ...darkrooms.map((darkroom) => darkroom.namespace)])].sort(), [namespaces, darkrooms]);
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

/** Says beforehand what the cluster would refuse. It does not keep anybody from trying. */
function Rights({ loaded }: { loaded: Darkroom | undefined }) {
  const { input } = useForm();
  const namespace = input.namespace ?? "";
  const asked = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(namespace);
  const { value } = useLoaded(`access ${namespace} ${loaded?.name ?? ""}`, async (signal) => {
    // Who is still typing is not asked about.
    await new Promise((resolve) => setTimeout(resolve, 400));
    signal.throwIfAborted();
    return asked ? api.access({ namespace, name: loaded?.name }, signal) : undefined;
  });
  if (!value || (loaded ? value.update : value.create)) {
    return null;
  }
  return (
    <Alert
      component="p"
      isInline
      isPlain
      variant="warning"
      title={loaded ? "You may look at this Darkroom, but not change it" : `You may not create Darkrooms in the namespace ${namespace}`}
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
          label="A fixed number"
          isChecked={!automatic}
          isDisabled={disabled}
          onChange={() => change({ ...withValue(input, ["autoscaling"], undefined), replicas }, "autoscaling")}
        />
        <Radio
          id="scale-automatic"
          name="scale"
          label="As many as are needed"
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
          <NumberField path={["autoscaling", "minReplicas"]} label="Least pods" least={1} most={1000} />
          <NumberField path={["autoscaling", "maxReplicas"]} label="Most pods" least={1} most={1000} />
          <NumberField path={["autoscaling", "targetCPUUtilizationPercentage"]} label="CPU aimed at (%)" least={1} isOptional placeholder="75" />
        </div>
      ) : (
        <NumberField path={["replicas"]} label="Number of pods" least={0} most={1000} help={input.replicas === 0 ? "No pod runs, so no picture is served" : undefined} />
      )}
    </>
  );
}
