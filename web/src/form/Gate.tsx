import { Switch } from "@patternfly/react-core";
import { useState } from "react";
import type { DarkroomInput } from "../api/types";
import { withValue } from "../model/model";
import { FormContext, Help, idOf, NumberField, TextField, useForm } from "./fields";

/** Turns spec.gate on or off. */
export function GateSwitch() {
  const { input, change, disabled } = useForm();
  const { gate } = input;
  /** The previous settings, restored when the gate is turned on again. */
  const [aside, setAside] = useState<DarkroomInput["gate"]>({});
  const turn = (on: boolean) => {
    setAside(gate ?? aside);
    change(withValue(input, ["gate"], on ? aside : undefined), "gate");
  };
  return (
    <div>
      <Switch id={idOf("gate")} label="Limit and cache requests with a gate" isDisabled={disabled} isChecked={gate !== undefined} onChange={(_, on) => turn(on)} aria-describedby={`${idOf("gate")}-help`} />
      <Help location="gate" help="A proxy in each pod that rejects expensive requests, and fetches and resizes each image once" />
    </div>
  );
}

/** The limits of requests, and the cache. */
export function GateSettings() {
  const form = useForm();
  if (!form.input.gate) {
    return null;
  }
  return (
    // An empty gate is still a gate.
    <FormContext value={{ ...form, change: (next, location) => form.change({ gate: {}, ...next }, location) }}>
      <div className="dr-pair">
        <NumberField path={["gate", "limits", "maxWidth"]} label="Maximum width (pixels)" isOptional />
        <NumberField path={["gate", "limits", "maxHeight"]} label="Maximum height (pixels)" isOptional />
      </div>
      <div className="dr-pair">
        <NumberField path={["gate", "limits", "maxSourcePixels"]} label="Maximum pixels of an original" isOptional />
        <TextField path={["gate", "limits", "maxSourceBytes"]} label="Maximum size of an original" />
        <TextField path={["gate", "cache", "disk"]} label="Cache on disk" placeholder="none" help />
      </div>
    </FormContext>
  );
}
