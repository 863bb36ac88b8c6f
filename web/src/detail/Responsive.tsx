import { Skeleton } from "@patternfly/react-core";
import { api } from "../api/client";
import { keyOf, type Darkroom } from "../api/types";
import { useLoaded } from "../useLoaded";
import { bytes } from "../words/age";
import { ImageLink } from "./ImageLink";
import { queryOf, queryText, type Params } from "./params";
import { worthwhile, type Choice } from "./srcset";

/** The sizes that a browser can choose from with the bytes of each, as the Darkroom serves it, without those that save little. */
export function Responsive({ darkroom, path, params, choice }: { darkroom: Darkroom; path: string; params: Params; choice: Choice }) {
  const { candidates, sizes } = choice;
  const { value: weights, problem } = useLoaded(
    `candidates ${keyOf(darkroom)} ${path} ${candidates.map((candidate) => queryText(candidate.params)).join(" ")}`,
    async (signal) => {
      const out: number[] = [];
      // One after the other: each caller has two images at a time.
      for (const candidate of candidates) {
        const query = queryOf(candidate.params);
        query.set("path", path);
        out.push((await api.image(darkroom, query, signal)).blob.size);
      }
      return out;
    },
    { fresh: Infinity },
  );
  if (problem) {
    return <p className="dr-quiet">Not measured: {problem.message}</p>;
  }
  if (!weights) {
    return <Skeleton height="4rem" screenreaderText="Measuring the candidates" />;
  }
  const kept = worthwhile(weights);
  return (
    <div className="dr-stack">
      <ul className="dr-candidates" aria-label="Candidates">
        {candidates.map(({ descriptor }, i) => (
          <li key={descriptor}>
            <strong>{descriptor}</strong> {bytes(weights[i] ?? 0)}
            {!kept[i] && <span className="dr-quiet"> left out: the next one is less than 10 % larger</span>}
          </li>
        ))}
      </ul>
      <ImageLink darkroom={darkroom} path={path} query={queryText(params)} choice={{ candidates: candidates.filter((_, i) => kept[i]), sizes }} />
    </div>
  );
}
