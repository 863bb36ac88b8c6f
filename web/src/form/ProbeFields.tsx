import { useState } from "react";
import type { Probe } from "../api/types";
import { NumberField, TextField, useForm } from "./fields";
import { isObject, withValue } from "../model/model";

/** The image of spec.probe. Without a path there is no probe. */
export function ProbePath() {
  const { input } = useForm();
  /** The other fields of the probe, restored when a path is entered again. */
  const [aside, setAside] = useState<Omit<Probe, "path">>({});
  const set = (path: string) => {
    const { path: _, ...rest } = isObject(input.probe) ? input.probe : { path, ...aside };
    setAside(rest);
    return withValue(input, ["probe"], path === "" ? undefined : { ...rest, path });
  };
  return (
    <TextField
      path={["probe", "path"]}
      label="Image to check with"
      set={set}
      help="Path of a small image at the source. The image is shown here, and the Darkroom is ready only while it is served. Without one, images are not checked."
    />
  );
}

/** How often the image is requested, and what counts as a failure. */
export function ProbeTimes() {
  const { input } = useForm();
  if (!isObject(input.probe)) {
    return null;
  }
  return (
    <div className="dr-pair">
      <NumberField path={["probe", "periodSeconds"]} label="Image check period (seconds)" isOptional />
      <NumberField path={["probe", "timeoutSeconds"]} label="Image check timeout (seconds)" isOptional />
      <NumberField path={["probe", "failureThreshold"]} label="Image check failure threshold" isOptional />
    </div>
  );
}
