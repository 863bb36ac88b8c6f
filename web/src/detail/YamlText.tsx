import { CodeBlock, CodeBlockAction } from "@patternfly/react-core";
import type { Darkroom } from "../api/types";
import { toInput } from "../model/model";
import { write } from "../yaml/text";
import { CopyButton } from "./CopyButton";

/** The resource as kubectl would apply it, without write-only fields. */
export default function YamlText({ darkroom }: { darkroom: Darkroom }) {
  const text = write(toInput(darkroom));
  return (
    <>
      <CodeBlock
        actions={
          <CodeBlockAction>
            <CopyButton text={text} label="Copy resource" />
          </CodeBlockAction>
        }
      >
        {/* Focusable, so that it can be scrolled by keyboard. */}
        <pre id="code-resource" className="dr-code dr-code--tall" tabIndex={0} role="region" aria-label="Resource">
          {text}
        </pre>
      </CodeBlock>
      <p className="dr-quiet">Keys and literal values of environment variables are never shown.</p>
    </>
  );
}
