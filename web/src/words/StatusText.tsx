import { Icon } from "@patternfly/react-core";
import type { ComponentType, ReactNode } from "react";

interface Props {
  icon: ComponentType;
  status: "success" | "info" | "warning" | "danger" | "custom" | undefined;
  /** Text for screen readers. */
  label?: string | undefined;
  children: ReactNode;
}

/** An icon and a few words, for tables. */
export function StatusText({ icon: Sign, status, label, children }: Props) {
  return (
    <span className="dr-phase">
      <Icon status={status} isInline {...(label ? { role: "img", "aria-label": label } : { "aria-hidden": true })}>
        <Sign />
      </Icon>
      <span>{children}</span>
    </span>
  );
}
