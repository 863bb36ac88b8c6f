import { msg, rich, t } from "../words/t";
import { hunks, type DiffLine } from "./diff";

const signs = { added: "+", removed: "−", same: " " } as const;
const words = { added: msg("added:"), removed: msg("removed:"), same: undefined };

/** A line-by-line comparison: added and removed lines, with some context. */
export function DiffView({ lines, label }: { lines: DiffLine[]; label: string }) {
  const added = lines.filter((line) => line.kind === "added").length;
  const removed = lines.filter((line) => line.kind === "removed").length;
  return (
    <figure className="dr-diff" aria-label={label}>
      <figcaption className="dr-diff__head">
        {rich("{label}: <plus>{added} added</plus>, <minus>{removed} removed</minus>", {
          label,
          added,
          removed,
          plus: (text) => <span className="dr-diff__plus">{text}</span>,
          minus: (text) => <span className="dr-diff__minus">{text}</span>,
        })}
      </figcaption>
      {/* Focusable, so that it can be scrolled by keyboard. */}
      <pre className="dr-code dr-diff__lines" tabIndex={0} role="region" aria-label={t("{label}, line by line", { label })}>
        {hunks(lines).map((hunk, i) =>
          "skipped" in hunk ? (
            <span key={i} className="dr-diff__skip">
              {t("⋯ {n, plural, one {# line} other {# lines}} unchanged", { n: hunk.skipped }) + "\n"}
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
  return <span className="pf-v6-screen-reader">{word && `${t(word)} `}</span>;
}
