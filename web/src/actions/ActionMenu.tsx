import { Divider, DropdownItem } from "@patternfly/react-core";
import type { Access, Darkroom } from "../api/types";
import { navigate, paths } from "../router";
import { Actions } from "./Actions";
import { isPaused, refusalOf, words, type ActionName } from "./actions";

/** The actions on one Darkroom; those that are not possible say why. */
export function ActionMenu({ darkroom, access, onAct }: { darkroom: Darkroom; access: Access | undefined; onAct: (action: ActionName) => void }) {
  const cannotClone = access?.create === false ? "You do not have permission to create Darkrooms in this namespace" : undefined;
  return (
    <Actions>
      {(["restart", "scale", isPaused(darkroom) ? "resume" : "pause", "retry"] as const).map((action) => {
        const refusal = refusalOf(action, darkroom, access);
        return (
          <DropdownItem key={action} isAriaDisabled={refusal !== undefined} description={refusal} onClick={() => onAct(action)}>
            {words[action].menu}
          </DropdownItem>
        );
      })}
      <Divider component="li" />
      <DropdownItem isAriaDisabled={cannotClone !== undefined} description={cannotClone} onClick={() => navigate(paths.clone(darkroom))}>
        Clone
      </DropdownItem>
    </Actions>
  );
}
