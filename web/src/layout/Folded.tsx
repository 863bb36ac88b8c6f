import { ExpandableSection } from "@patternfly/react-core";
import { useState, type ReactNode } from "react";

/**
 * A part that is folded until it is needed. Folded content is not rendered and reads nothing. isOpen unfolds it; only
 * the user folds it again.
 */
export function Folded({ title, isOpen = false, isIndented = false, children }: { title: string; isOpen?: boolean; isIndented?: boolean; children: ReactNode }) {
  const [open, setOpen] = useState(isOpen);
  const [wasOpen, setWasOpen] = useState(isOpen);
  if (isOpen !== wasOpen) {
    setWasOpen(isOpen);
    setOpen(open || isOpen);
  }
  return (
    <ExpandableSection toggleText={title} isExpanded={open} onToggle={(_, next) => setOpen(next)} isIndented={isIndented}>
      {open && children}
    </ExpandableSection>
  );
}
