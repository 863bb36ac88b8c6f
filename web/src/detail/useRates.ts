import { useState } from "react";
import { api } from "../api/client";
import type { Problem } from "../api/problem";
import { keyOf, type Darkroom, type Figures } from "../api/types";
import { useLoaded } from "../useLoaded";
import { ratesOf, type Rates } from "./figures";

interface Options {
  /** The time between two answers, in milliseconds. */
  every: number;
  /** The number of rates that are kept. */
  most: number;
  enabled?: boolean;
  /** Sends the request, at once or in turn with others. */
  send?: (request: () => Promise<Figures>) => Promise<Figures>;
}

/** What the gates of a Darkroom do, from their counters while they are looked at; the latest rates last. */
export function useRates(darkroom: Darkroom, { every, most, enabled = true, send = (request) => request() }: Options): { rates: Rates[]; value: Figures | undefined; problem: Problem | undefined } {
  const { value, problem } = useLoaded(`figures ${keyOf(darkroom)}`, (signal) => send(() => api.figures(darkroom, signal)), { every, enabled });
  const [seen, setSeen] = useState<readonly Figures[]>([]);
  if (value && value !== seen.at(-1)) {
    setSeen([...seen.slice(-most), value]);
  }
  const rates = seen.slice(1).flatMap((after, i) => {
    const before = seen[i];
    return (before && ratesOf(before, after)) ?? [];
  });
  return { rates, value, problem };
}
