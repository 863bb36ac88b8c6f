import { useRef } from "react";
import { api } from "../api/client";
import { queue } from "../api/queue";
import { keyOf, type Darkroom } from "../api/types";
import { useAccess } from "../useAccess";
import { useImageUrl } from "../useImageUrl";
import { useLoaded } from "../useLoaded";
import { useSeen } from "../useSeen";
import { atTime } from "../words/age";
import { oldPodsServe, servingOf, sourceReadyOf } from "../words/conditions";
import { milliseconds } from "../words/format";
import { phaseOf } from "../words/phases";

/** The interval after which an image is requested again, in milliseconds. */
const fresh = 60_000;

/** The image of spec.probe as the Darkroom serves it, or the reason why there is none. */
export function ProbeImage({ darkroom }: { darkroom: Darkroom }) {
  const check = sourceReadyOf(darkroom);
  const serves = check && (check.status === "True" || oldPodsServe(check)) && darkroom.status.readyReplicas > 0;
  if (darkroom.probe && serves) {
    return <Served darkroom={darkroom} />;
  }
  return (
    <div className="dr-thumbnail" title={servingOf(darkroom)}>
      {phaseOf(darkroom) === "Idle" ? "Idle" : !darkroom.probe ? "Not checked" : check?.status === "False" ? "Not served" : "Not yet"}
    </div>
  );
}

/** The server allows two images per caller at a time. The list uses one, so that the other is free for the detail. */
const inTurn = queue();

/** The image, requested once its row is visible. */
function Served({ darkroom }: { darkroom: Darkroom }) {
  const box = useRef<HTMLDivElement>(null);
  const seen = useSeen(box);
  const enabled = useAccess(darkroom.namespace, undefined, { enabled: seen })?.image === true && seen;
  const path = darkroom.probe?.path ?? "";
  // Requested again when the result of the probe changes.
  const what = `thumbnail ${keyOf(darkroom)} ${darkroom.uid ?? ""} ${path} ${sourceReadyOf(darkroom)?.lastTransitionTime ?? ""}`;
  const request = (signal: AbortSignal) =>
    inTurn(() => {
      signal.throwIfAborted();
      return api.image(darkroom, new URLSearchParams({ path, w: "128" }), signal);
    });
  const { value: image, problem } = useLoaded(what, request, { fresh, enabled });
  const url = useImageUrl(image?.blob);
  const words = problem ? problem.message : image ? `Served at ${atTime(image.at)} in ${milliseconds(image.milliseconds)}` : servingOf(darkroom);
  return (
    <div ref={box} className="dr-thumbnail" title={words}>
      {url ? <img src={url} alt={path} title={words} /> : problem && "No image"}
    </div>
  );
}
