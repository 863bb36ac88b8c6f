import { useEffect, useRef, useState } from "react";
import type { Darkroom } from "../api/types";
import { useStore } from "../live/useLive";
import { useImageUrl } from "../useImageUrl";
import { useLoaded } from "../useLoaded";
import { Age } from "../words/AgeText";
import { servingOf } from "../words/conditions";
import { milliseconds } from "../words/format";
import { phaseOf } from "../words/phases";
import { sourceOf, thumbnailsOf, whatOf } from "./thumbnails";

/** The image of spec.probe in the list: when the Darkroom last served it and how fast, or for how long it is not served. */
export function ProbeImage({ darkroom }: { darkroom: Darkroom }) {
  const source = sourceOf(darkroom);
  const ready = phaseOf(darkroom) === "Ready";
  if (darkroom.probe && source?.status === "True" && darkroom.status.readyReplicas > 0) {
    return <Visible darkroom={darkroom} />;
  }
  if (darkroom.probe && source?.status === "False") {
    return (
      <div className="dr-quiet dr-small">
        <Age since={source.lastTransitionTime} text={(age) => `Image not served for ${age}`} />
      </div>
    );
  }
  return ready && <div className="dr-quiet dr-small">{servingOf(darkroom)}</div>;
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
  return (
    <>
      {url && <img src={url} alt={darkroom.probe?.path ?? ""} />}
      <div className="dr-quiet dr-small" title={problem?.message}>
        {problem ? "No image" : servingOf(darkroom)}
        {shown && !problem && (
          <div>
            <Age since={shown.at} text={(age) => `${age} ago in ${milliseconds(shown.milliseconds)}`} />
          </div>
        )}
      </div>
    </>
  );
}
