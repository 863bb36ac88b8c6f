import { Button } from "@patternfly/react-core";
import CheckIcon from "@patternfly/react-icons/dist/esm/icons/check-icon";
import CopyIcon from "@patternfly/react-icons/dist/esm/icons/copy-icon";
import { useCopy } from "../words/copy";

/** Copies a text, and confirms it for a moment. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [copied, copy] = useCopy();
  return (
    <>
      <Button variant="plain" hasNoPadding size="sm" aria-label={label} title={label} icon={copied ? <CheckIcon /> : <CopyIcon />} onClick={() => copy(text, "text")} />
      <span role="status" className="dr-quiet dr-small">
        {copied && "Copied"}
      </span>
    </>
  );
}
