import { api } from "../api/client";
import { keyOf, type Darkroom } from "../api/types";
import { Loading } from "../layout/Loading";
import { useLoaded } from "../useLoaded";
import { bytes } from "../words/age";
import { ImageLink } from "./ImageLink";
import { queryOf, queryText, type Params } from "./params";
import { worthwhile, type Choice } from "./srcset";

/** The bytes of an image and its format, such as "66 kB as WebP". */
const weightOf = ({ size, type }: Blob): string => `${bytes(size)} as ${type === "image/webp" ? "WebP" : type.replace("image/", "").toUpperCase()}`;

/**
 * The candidates of a srcset with their sizes in bytes as the Darkroom serves them, and with a gate also as WebP.
 * Candidates that save little are omitted from the URL.
 */
export function Responsive({ darkroom, path, params, choice }: { darkroom: Darkroom; path: string; params: Params; choice: Choice }) {
  const { candidates, sizes } = choice;
  // A gate converts images to WebP if that is smaller.
  const formats = darkroom.gate ? [false, true] : [params.webp];
  const { value: measured, problem } = useLoaded(
    `candidates ${keyOf(darkroom)} ${path} ${formats.join(" ")} ${candidates.map((candidate) => queryText(candidate.params)).join(" ")}`,
    async (signal) => {
      const out: Blob[][] = [];
      // Sequentially, because each caller may load only two images at a time.
      for (const candidate of candidates) {
        const blobs: Blob[] = [];
        for (const webp of formats) {
          const query = queryOf({ ...candidate.params, webp });
          query.set("path", path);
          blobs.push((await api.image(darkroom, query, signal)).blob);
        }
        out.push(blobs);
      }
      return out;
    },
    { fresh: Infinity },
  );
  if (problem) {
    return <p className="dr-quiet">Not measured: {problem.message}</p>;
  }
  if (!measured) {
    return <Loading height="4rem" label="Measuring the candidates" />;
  }
  const shown = formats.indexOf(params.webp);
  const kept = worthwhile(measured.map((blobs) => blobs[shown]?.size ?? 0));
  return (
    <div className="dr-stack">
      <ul className="dr-candidates" aria-label="Candidates">
        {candidates.map(({ descriptor }, i) => (
          <li key={descriptor}>
            <strong>{descriptor}</strong> {measured[i]?.map(weightOf).join(", ")}
            {!kept[i] && <span className="dr-quiet"> omitted: the next one is less than 10 % larger</span>}
          </li>
        ))}
      </ul>
      <ImageLink darkroom={darkroom} path={path} query={queryText(params)} choice={{ candidates: candidates.filter((_, i) => kept[i]), sizes }} />
    </div>
  );
}
