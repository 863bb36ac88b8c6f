import { useEffect, useRef, useState } from "react";
import type { Darkroom } from "../api/types";
import { useStore } from "../live/useLive";
import { useImageUrl } from "../useImageUrl";
import { useLoaded } from "../useLoaded";
import { atTime } from "../words/age";
import { servingOf, sourceReadyOf } from "../words/conditions";
import { milliseconds } from "../words/format";
import { thumbnailsOf, whatOf } from "./thumbnails";

/** The image of spec.probe in the list, as the Darkroom serves it; an empty frame if none is served. */
export function ProbeImage({ darkroom }: { darkroom: Darkroom }) {
  const check = sourceReadyOf(darkroom);
  if (darkroom.probe && check?.status === "True" && darkroom.status.readyReplicas > 0) {
    return <Visible darkroom={darkroom} />;
  }
  return <div className="dr-thumbnail" title={servingOf(darkroom)} />;
}

/** The image, which is requested once its row is seen. */
function Visible({ darkroom }: { darkroom: Darkroom }) {
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) {
        setSeen(true);
        observer.disconnect();
      }
    });
    if (box.current) {
      observer.observe(box.current);
    }
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={box} className="dr-thumbnail">
      {seen && <Requested darkroom={darkroom} />}
    </div>
  );
}

function Requested({ darkroom }: { darkroom: Darkroom }) {
  const store = useStore();
  const { value: image, problem } = useLoaded(whatOf(darkroom), async (signal) => (await thumbnailsOf(store).get(darkroom, signal)) ?? "refused");
  const url = useImageUrl(image === "refused" ? undefined : image?.blob);
  const shown = image === "refused" ? undefined : image;
  const words = problem ? problem.message : shown ? `Served at ${atTime(shown.at)} in ${milliseconds(shown.milliseconds)}` : servingOf(darkroom);
  return url ? <img src={url} alt={darkroom.probe?.path ?? ""} title={words} /> : <span title={words} />;
}
