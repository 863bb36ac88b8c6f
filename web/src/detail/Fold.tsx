import { Card, CardBody, ExpandableSection } from "@patternfly/react-core";
import { useState, type ReactNode } from "react";

/** A part of the overview that is folded until it is needed. What is folded is not rendered, and reads nothing. */
export function Fold({ id, title, isOpen = false, children }: { id: string; title: string; isOpen?: boolean; children: ReactNode }) {
  const [chosen, setChosen] = useState<boolean>();
  const open = chosen ?? isOpen;
  return (
    <Card id={`card-${id}`} isCompact>
      <CardBody>
        <ExpandableSection toggleText={title} isExpanded={open} onToggle={(_, next) => setChosen(next)}>
          {open && children}
        </ExpandableSection>
      </CardBody>
    </Card>
  );
}
