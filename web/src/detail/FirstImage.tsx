import { Button, Card, CardBody } from "@patternfly/react-core";
import type { Access, Darkroom } from "../api/types";
import { MissingRight } from "../layout/MissingRight";
import { linkTo, paths } from "../router";
import { Age, ago } from "../words/AgeText";
import { oldPodsServe, sourceReadyOf } from "../words/conditions";
import { milliseconds, plural } from "../words/format";
import { phaseOf, phases } from "../words/phases";
import { troubleOf } from "../words/remedies";
import { useWaiting } from "../words/waiting";
import { ImageLink } from "./ImageLink";
import { ImageView, useImage } from "./ImageView";

/** The image of spec.probe, large, as the Darkroom serves it now; its URL; and the status on one line. */
export function FirstImage({ darkroom, access, round }: { darkroom: Darkroom; access: Access | undefined; round: number }) {
  const { probe, status } = darkroom;
  const check = sourceReadyOf(darkroom);
  const isDown = check?.status === "False" && !oldPodsServe(check) && round === 0;
  const enabled = probe !== undefined && access?.image !== false && status.readyReplicas > 0 && !isDown;
  // Requested again when the result of the check changes.
  const image = useImage(darkroom, probe?.path ?? "", "w=960", { round: round + (Date.parse(check?.lastTransitionTime ?? "") || 0), enabled });
  const served = enabled && !image.problem ? image.value : undefined;
  const waiting = useWaiting(darkroom);
  return (
    <Card id="card-image">
      <CardBody className="dr-stack">
        {!probe ? (
          <div className="dr-row">
            <span>Images are not checked. Name one of them to see it here, and to know whether it is served.</span>
            <Button variant="secondary" size="sm" {...linkTo(paths.edit(darkroom, "probe.path"))}>
              Set an image
            </Button>
          </div>
        ) : access?.image === false ? (
          <MissingRight to="image" namespace={darkroom.namespace} />
        ) : status.readyReplicas === 0 ? (
          <p className="dr-quiet">No pod is ready, so no image is served.</p>
        ) : isDown ? (
          <p className="dr-quiet">
            <Age since={check.lastTransitionTime} text={(age) => `Not served for ${age}.`} />
          </p>
        ) : (
          <ImageView image={image} namespace={darkroom.namespace} alt={probe.path} isQuiet={troubleOf(darkroom) !== undefined} />
        )}
        {probe && <ImageLink darkroom={darkroom} path={probe.path} query="" />}
        <p className="dr-quiet">
          {[waiting ? "Status from before the last change" : phases[phaseOf(darkroom)].name, plural(status.readyReplicas, "pod")].join(" · ")}
          {check?.status === "True" && (
            <>
              {" · served for "}
              <Age since={check.lastTransitionTime} />
            </>
          )}
          {served && (
            <>
              {" · checked "}
              <Age since={served.at} text={ago} />
              {` · ${milliseconds(served.milliseconds)}`}
            </>
          )}
        </p>
      </CardBody>
    </Card>
  );
}
