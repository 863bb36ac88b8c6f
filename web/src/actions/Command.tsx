import { ExpandableSection } from "@patternfly/react-core";
import { useState } from "react";
import { CopyButton } from "../detail/CopyButton";

/** Commands that do the same as an action in a terminal, folded: few need them. */
export function Command({ text }: { text: string }) {
  const [open, setOpen] = useState(false);
  return (
    <ExpandableSection toggleText="The same with kubectl" isExpanded={open} onToggle={(_, next) => setOpen(next)}>
      <div className="dr-row dr-row--nowrap dr-row--top">
        {/* Focusable, so that it can be scrolled by keyboard. */}
        <pre className="dr-code dr-code--command" tabIndex={0} role="region" aria-label="kubectl command">
          {text}
        </pre>
        <CopyButton text={text} label="Copy kubectl command" />
      </div>
    </ExpandableSection>
  );
}
