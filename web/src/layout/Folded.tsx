import { ExpandableSection } from "@patternfly/react-core";
import { useState, type ReactNode } from "react";

/** What few need: it is folded until it is asked for, and rendered only then. */
export function Folded({ title, isIndented = false, children }: { title: string; isIndented?: boolean; children: ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <ExpandableSection toggleText={title} isExpanded={open} onToggle={(_, next) => setOpen(next)} isIndented={isIndented}>
      {open && children}
    </ExpandableSection>
  );
}
