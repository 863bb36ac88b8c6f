import { CopyButton } from "../detail/CopyButton";
import { Folded } from "../layout/Folded";

/** Commands that do the same as an action in a terminal, folded: few need them. */
export function Command({ text }: { text: string }) {
  return (
    <Folded title="The same with kubectl">
      <div className="dr-row dr-row--nowrap dr-row--top">
        {/* Focusable, so that it can be scrolled by keyboard. */}
        <pre className="dr-code dr-code--command" tabIndex={0} role="region" aria-label="kubectl command">
          {text}
        </pre>
        <CopyButton text={text} label="Copy kubectl command" />
      </div>
    </Folded>
  );
}
