import { useState } from "react";
import type { Probe } from "../api/types";
import { NumberField, TextField, useForm } from "./fields";
import { isObject, withValue } from "../model/model";
import { probeBounds } from "./validate";

/** The image of spec.probe. Without a path there is no probe. */
export function ProbePath() {
  const { input } = useForm();
  /** The other fields of a probe whose path was cleared, perhaps to enter another one. */
  const [aside, setAside] = useState<Omit<Probe, "path">>({});
  const set = (path: string) => {
    const { path: _, ...rest } = isObject(input.probe) ? input.probe : { path, ...aside };
    setAside(rest);
    return withValue(input, ["probe"], path === "" ? undefined : { ...rest, path });
  };
  return (
    <TextField
      path={["probe", "path"]}
      label="An image to check with"
      placeholder="/photos/cat.jpg"
      set={set}
      help="Path of a small image at the source. The Darkroom is ready only while this image is served, and changes are applied only after a pod has served it. Without one, whether images are served is not checked."
    />
  );
}

/** How often the image is requested, and what counts as a failure. */
export function ProbeTimes() {
  const { input } = useForm();
  const bounds = (field: keyof typeof probeBounds) => ({ least: probeBounds[field][0], most: probeBounds[field][1] });
  if (!isObject(input.probe)) {
    return null;
  }
  return (
    <div className="dr-pair">
      <NumberField path={["probe", "periodSeconds"]} label="Image check period (seconds)" {...bounds("periodSeconds")} isOptional placeholder="60" />
      <NumberField path={["probe", "timeoutSeconds"]} label="Image check timeout (seconds)" {...bounds("timeoutSeconds")} isOptional placeholder="10" />
      <NumberField
        path={["probe", "failureThreshold"]}
        label="Image check failure threshold"
        {...bounds("failureThreshold")}
        isOptional
        placeholder="3"
        help="Consecutive failures after which the Darkroom is not ready"
      />
    </div>
  );
}
