import { ClipboardCopyButton } from "@patternfly/react-core";
import { useState } from "react";

/** Copies a text, and says so. */
export function CopyButton({ id, text, label }: { id: string; text: string; label: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <ClipboardCopyButton
      id={id}
      variant="plain"
      hasNoPadding
      aria-label={label}
      onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
      onTooltipHidden={() => setCopied(false)}
    >
      {copied ? "Copied" : label}
    </ClipboardCopyButton>
  );
}
