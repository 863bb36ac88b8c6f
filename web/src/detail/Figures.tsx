import { useState } from "react";
import { api } from "../api/client";
import { keyOf, type Darkroom, type Figures as Counters } from "../api/types";
import { MissingRight } from "../layout/MissingRight";
import { bytes } from "../words/age";
import { milliseconds, plural } from "../words/format";
import { lineOf, ratesOf, type Rates } from "./figures";
import { useLoaded } from "../useLoaded";
import { spell } from "../words/waiting";

/** The interval between requests, in milliseconds, and the number of responses in the line. */
const every = 5_000;
const most = 60;
const width = 240;
const height = 32;

/** The current rates of the gates of a Darkroom, and a line of the last minutes. */
export function Figures({ darkroom }: { darkroom: Darkroom }) {
  const { value, problem } = useLoaded(`figures ${keyOf(darkroom)}`, (signal) => api.figures(darkroom, signal), { every });
  const [seen, setSeen] = useState<readonly Counters[]>([]);
  if (value && value !== seen.at(-1)) {
    setSeen([...seen.slice(-most), value]);
  }
  const rates = seen.slice(1).flatMap((after, i) => {
    const before = seen[i];
    return (before && ratesOf(before, after)) ?? [];
  });
  if (problem?.status === 403) {
    return <MissingRight to="figures" namespace={darkroom.namespace} />;
  }
  const now = rates.at(-1);
  const isSilent = value?.gates.length === 0;
  const period = (every / 1_000) * rates.length;
  return (
    <section aria-label="Figures of the gate" className="dr-figures">
      {!isSilent && <dl>
        {Object.entries(words).map(([title, describe]) => (
          <div key={title}>
            <dt className="dr-quiet dr-small">{title}</dt>
            <dd>{(now && describe(now)) ?? "–"}</dd>
          </div>
        ))}
      </dl>}
      {rates.length > 1 && (
        <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={`Requests a second in the last ${spell(period)}`}>
          <polyline points={lineOf(rates.map(({ requestsPerSecond }) => requestsPerSecond), width, height)} vectorEffect="non-scaling-stroke" />
        </svg>
      )}
      <p className="dr-quiet dr-small">{problem ? `Not up to date: ${problem.message}` : value && value.gates.length < value.pods ? `${value.gates.length} of ${plural(value.pods, "gate")} responded` : rates.length > 1 ? `Requests in the last ${spell(period)}, all pods` : "Counting requests…"}</p>
    </section>
  );
}

const words: Record<string, (rates: Rates) => string | undefined> = {
  Requests: ({ requestsPerSecond }) => `${requestsPerSecond.toFixed(requestsPerSecond < 10 ? 1 : 0)}/s`,
  "From the cache": ({ hitRate }) => hitRate === undefined ? undefined : `${Math.round(hitRate * 100)} %`,
  "95 % within": ({ p95 }) => p95 === undefined ? undefined : milliseconds(p95),
  Sent: ({ bytesPerSecond }) => `${bytes(Math.round(bytesPerSecond))}/s`,
  Saved: ({ savedPerSecond }) => savedPerSecond > 0 ? `${bytes(Math.round(savedPerSecond))}/s` : undefined,
  Errors: ({ errorsPerSecond }) => `${errorsPerSecond.toFixed(errorsPerSecond === 0 ? 0 : 1)}/s`,
};
