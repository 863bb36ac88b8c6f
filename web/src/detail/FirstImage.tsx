import { Card, CardBody, CardTitle } from "@patternfly/react-core";
import type { Access, Darkroom } from "../api/types";
import { MissingRight } from "../layout/MissingRight";
import { Age } from "../words/AgeText";
import { ImageView } from "./ImageView";
import { Snippets } from "./Snippets";
import { plural } from "../words/format";

/** The image of spec.probe, as the Darkroom serves it now, and its URL. */
export function FirstImage({ darkroom, access }: { darkroom: Darkroom; access: Access | undefined }) {
  const { probe, status } = darkroom;
  if (!probe) {
    return null;
  }
  const source = status.conditions?.find(({ type }) => type === "SourceReady");
  const age = <Age since={source?.lastTransitionTime} />;
  return (
    <Card id="card-image">
      <CardTitle component="h2">Image</CardTitle>
      <CardBody className="dr-stack">
        {access?.image === false ? (
          <MissingRight to="image" namespace={darkroom.namespace} />
        ) : status.readyReplicas > 0 ? (
          // Fetched again when the result of the check changes.
          <ImageView of={darkroom} path={probe.path} query="w=320" round={Date.parse(source?.lastTransitionTime ?? "") || 0} kind="last" />
        ) : (
          <p className="dr-quiet">No pod is ready, so no image is served.</p>
        )}
        <p className="dr-break">{probe.path}</p>
        {source && source.status !== "Unknown" && (
          <p>
            {source.status === "True"
              ? <>Served for {age}, checked every {plural(probe.periodSeconds ?? 60, "second")}</>
              : <>Not served for {age}</>}
          </p>
        )}
        <Snippets darkroom={darkroom} path={probe.path} query="" />
      </CardBody>
    </Card>
  );
}
