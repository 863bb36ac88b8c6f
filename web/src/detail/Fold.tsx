import { Card, CardBody, ExpandableSection } from "@patternfly/react-core";
import { useState, type ReactNode } from "react";

/**
 * A part of the overview that is folded until it is needed. What is folded is not rendered, and
 * reads nothing. isOpen unfolds it; only the person folds it again.
 */
export function Fold({ id, title, isOpen = false, children }: { id: string; title: string; isOpen?: boolean; children: ReactNode }) {
  const [open, setOpen] = useState(isOpen);
  const [wasOpen, setWasOpen] = useState(isOpen);
  if (isOpen !== wasOpen) {
    setWasOpen(isOpen);
    setOpen(open || isOpen);
  }
  return (
    <Card id={`card-${id}`} isCompact>
      <CardBody>
        <ExpandableSection toggleText={title} isExpanded={open} onToggle={(_, next) => setOpen(next)}>
          {open && children}
        </ExpandableSection>
      </CardBody>
    </Card>
  );
}
