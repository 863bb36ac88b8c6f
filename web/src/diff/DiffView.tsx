import { hunks, type DiffLine } from "./diff";
import { plural } from "../words/format";

const signs = { added: "+", removed: "−", same: " " } as const;
const words = { added: "added:", removed: "removed:", same: undefined };

/** A line-by-line comparison: added and removed lines, with some context. */
export function DiffView({ lines, label }: { lines: DiffLine[]; label: string }) {
  const added = lines.filter((line) => line.kind === "added").length;
  const removed = lines.filter((line) => line.kind === "removed").length;
  return (
    <figure className="dr-diff" aria-label={label}>
      <figcaption className="dr-diff__head">
        {label}: <span className="dr-diff__plus">{added} added</span>, <span className="dr-diff__minus">{removed} removed</span>
      </figcaption>
      {/* Focusable, so that it can be scrolled by keyboard. */}
      <pre className="dr-code dr-diff__lines" tabIndex={0} role="region" aria-label={`${label}, line by line`}>
        {hunks(lines).map((hunk, i) =>
          "skipped" in hunk ? (
            <span key={i} className="dr-diff__skip">
              {`⋯ ${plural(hunk.skipped, "line")} unchanged` + "\n"}
            </span>
          ) : (
            hunk.lines.map((line, j) => (
              <span key={`${i}.${j}`} className={`dr-diff__line dr-diff__line--${line.kind}`}>
                <span aria-hidden="true">{signs[line.kind]} </span>
                <Kind of={line.kind} />
                {line.text + "\n"}
              </span>
            ))
          ),
        )}
      </pre>
    </figure>
  );
}

/** The kind of a line, for screen readers. */
function Kind({ of }: { of: DiffLine["kind"] }) {
  const word = words[of];
  return <span className="pf-v6-screen-reader">{word && `${word} `}</span>;
}
