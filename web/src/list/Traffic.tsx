import { useRef, useState } from "react";
import { queue } from "../api/queue";
import type { Darkroom } from "../api/types";
import { describeHits, describeRequests } from "../detail/figures";
import { useRates } from "../detail/useRates";
import { useSeen } from "../useSeen";

/** The time between two requests of the figures of one row, in milliseconds. */
const every = 15_000;

/** The rows that are in view share one request at a time. */
const inTurn = queue();

/** Requests and hit rate of a Darkroom's gates, while its row is in view. Without the right to them there is nothing. */
export function Traffic({ darkroom }: { darkroom: Darkroom }) {
  const box = useRef<HTMLDivElement>(null);
  const seen = useSeen(box);
  return (
    <div ref={box} className="dr-cause dr-quiet">
      {seen ? <Rates darkroom={darkroom} /> : "\u00a0"}
    </div>
  );
}

function Rates({ darkroom }: { darkroom: Darkroom }) {
  const [refused, setRefused] = useState(false);
  const { rates, problem } = useRates(darkroom, { every, most: 1, enabled: !refused, send: inTurn });
  if (problem?.status === 403 && !refused) {
    setRefused(true);
  }
  const now = rates.at(-1);
  if (!now) {
    return "\u00a0";
  }
  const hits = describeHits(now);
  return <span title="Requests a second, and the share of images from the cache of the gate">{describeRequests(now) + (hits ? ` · ${hits} cached` : "")}</span>;
}
