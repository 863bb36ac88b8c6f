import { Alert, AlertActionLink } from "@patternfly/react-core";
import { Suspense } from "react";
import { lazyView } from "../lazyView";
import type { Access, Darkroom } from "../api/types";
import { linkTo, paths } from "../router";
import { troubleOf } from "../words/remedies";

// It needs the YAML library.
const RollBack = lazyView(() => import("./RollBack"));

/** Why a Darkroom needs attention, and the remedies. */
export function ProblemBox({ darkroom, access, onCheck }: { darkroom: Darkroom; access: Access | undefined; onCheck: () => void }) {
  const trouble = troubleOf(darkroom);
  if (!trouble) {
    return null;
  }
  const { title, remedies, sentence } = trouble;
  const mayUpdate = access?.update !== false;
  return (
    <Alert
      component="h2"
      isInline
      variant="danger"
      title={title}
      actionLinks={
        <>
          {mayUpdate &&
            remedies.map(({ label, field }) => (
              <AlertActionLink key={label} {...linkTo(paths.edit(darkroom, field))}>
                {label}
              </AlertActionLink>
            ))}
          {mayUpdate && (
            <Suspense>
              <RollBack darkroom={darkroom} />
            </Suspense>
          )}
          <AlertActionLink onClick={onCheck}>Check again</AlertActionLink>
        </>
      }
    >
      <p className="dr-break">{sentence}</p>
    </Alert>
  );
}
