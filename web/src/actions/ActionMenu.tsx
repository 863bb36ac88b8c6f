import { DropdownItem } from "@patternfly/react-core";
import type { Access, Darkroom } from "../api/types";
import { Menu } from "../layout/Menu";
import { missingRight } from "../layout/MissingRight";
import { hasKeys, isPaused, refusalOf, words, type ActionName } from "./actions";

/** The actions on a Darkroom. Disabled actions show the reason. */
export function ActionMenu({ darkroom, access, onAct }: { darkroom: Darkroom; access: Access | undefined; onAct: (action: ActionName | "rotate") => void }) {
  const cannotRotate = refusalOf("restart", { ...darkroom, replicas: 1 }, access) ?? (access?.createSecret === false ? missingRight("createSecret", darkroom.namespace) : undefined);
  return (
    <Menu toggle={{ children: "Actions" }}>
      {(["restart", "scale", isPaused(darkroom) ? "resume" : "pause", "retry"] as const).map((action) => {
        const refusal = refusalOf(action, darkroom, access);
        return (
          <DropdownItem key={action} isAriaDisabled={refusal !== undefined} description={refusal} onClick={() => onAct(action)}>
            {words[action].menu}
          </DropdownItem>
        );
      })}
      {hasKeys(darkroom) && (
        <DropdownItem isAriaDisabled={cannotRotate !== undefined} description={cannotRotate} onClick={() => onAct("rotate")}>
          Rotate keys
        </DropdownItem>
      )}
    </Menu>
  );
}
