import { CodeBlock, CodeBlockAction } from "@patternfly/react-core";
import { CopyButton } from "./CopyButton";

/** A text to read and copy. */
export function Code({ id: name, label, copyLabel, text, note }: { id: string; label: string; copyLabel: string; text: string; note?: string }) {
  const id = `code-${name}`;
  return (
    <>
      <CodeBlock
        actions={
          <CodeBlockAction>
            <CopyButton text={text} label={copyLabel} />
          </CodeBlockAction>
        }
      >
        {/* Focusable, so that it can be scrolled by keyboard. */}
        <pre id={id} className="dr-code dr-code--tall" tabIndex={0} role="region" aria-label={label}>
          {text}
        </pre>
      </CodeBlock>
      {note && <p className="dr-quiet">{note}</p>}
    </>
  );
}
