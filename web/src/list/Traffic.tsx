import { useRef, useState } from "react";
import { queue } from "../api/queue";
import type { Darkroom } from "../api/types";
import { describeHits, describeRequests, describeSaved } from "../detail/figures";
import { useRates } from "../detail/useRates";
import { useSeen } from "../useSeen";

/** The time between two requests of the figures of one row, in milliseconds. */
const every = 15_000;

/** The rows that are in view share one request at a time. */
const inTurn = queue();

/** Requests, hit rate and bytes saved of a Darkroom's gates, while its row is in view. Without the right to them there is nothing. */
export function Traffic({ darkroom }: { darkroom: Darkroom }) {
  const box = useRef<HTMLDivElement>(null);
  const seen = useSeen(box);
  const [refused, setRefused] = useState(false);
  const { rates, problem } = useRates(darkroom, { every, most: 1, enabled: seen && !refused, send: inTurn });
  if (problem?.status === 403 && !refused) {
    setRefused(true);
  }
  const now = rates.at(-1);
  const words = now ? [describeRequests(now), describeHits(now)?.concat(" cached"), describeSaved(now)?.concat(" saved")] : [];
  return (
    <div ref={box} className="dr-cause dr-quiet" title="Requests a second, the share of images from the cache of the gate, and by how much they are smaller than their originals">
      {words.filter(Boolean).join(" · ")}
    </div>
  );
}
