import { Button } from "@patternfly/react-core";
import type { ReactNode } from "react";
import type { Access, Darkroom } from "../api/types";
import { MissingRight } from "../layout/MissingRight";
import { linkTo, paths } from "../router";
import { useImageUrl } from "../useImageUrl";
import { Age, ago } from "../words/AgeText";
import { bytes } from "../words/age";
import { oldPodsServe, sourceReadyOf } from "../words/conditions";
import { milliseconds } from "../words/format";
import { troubleOf } from "../words/remedies";
import { Refused, useImage } from "./ImageView";

/** The image of spec.probe as the Darkroom serves it now, or the reason why there is none. */
export function FirstImage({ darkroom, access, round }: { darkroom: Darkroom; access: Access | undefined; round: number }) {
  const { probe, status, namespace } = darkroom;
  const check = sourceReadyOf(darkroom);
  const isDown = check?.status === "False" && !oldPodsServe(check) && round === 0;
  const enabled = probe !== undefined && access?.image !== false && status.readyReplicas > 0 && !isDown;
  // Requested again when the result of the check changes.
  const image = useImage(darkroom, probe?.path ?? "", "w=960", { round: round + (Date.parse(check?.lastTransitionTime ?? "") || 0), enabled });
  const served = enabled && !image.problem ? image.value : undefined;
  const url = useImageUrl(served?.blob);
  let content: ReactNode;
  if (!probe) {
    content = (
      <div className="dr-stack dr-unchecked">
        <span>Images are not checked. Set an image to see it here and to check whether it is served.</span>
        <Button variant="secondary" size="sm" {...linkTo(paths.edit(darkroom, "probe.path"))}>
          Set an image
        </Button>
      </div>
    );
  } else if (access?.image === false) {
    content = <MissingRight to="image" namespace={namespace} />;
  } else if (status.readyReplicas === 0) {
    content = <p className="dr-quiet">No pod is ready, so no image is served.</p>;
  } else if (isDown) {
    content = (
      <p className="dr-quiet">
        <Age since={check.lastTransitionTime} text={(age) => `Not served for ${age}.`} />
      </p>
    );
  } else if (image.problem) {
    content = <Refused problem={image.problem} reload={image.reload} namespace={namespace} isQuiet={troubleOf(darkroom) !== undefined} />;
  } else {
    content = url ? <img src={url} alt={probe.path} /> : <p className="dr-quiet">Loading {probe.path}</p>;
  }
  return (
    <figure className="dr-image dr-image--first">
      <div className={enabled && !image.problem ? "dr-image__frame dr-image__frame--expected" : "dr-image__frame"}>{content}</div>
      <figcaption className="dr-quiet dr-small">
        {served && (
          <>
            {served.blob.type.replace("image/", "").toUpperCase()} · {bytes(served.blob.size)} · checked <Age since={served.at} text={ago} />
            {` · ${milliseconds(served.milliseconds)}`}
          </>
        )}
      </figcaption>
    </figure>
  );
}
