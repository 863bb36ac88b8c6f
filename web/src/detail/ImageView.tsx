import { Alert, Skeleton } from "@patternfly/react-core";
import { useState } from "react";
import { api, type FetchedImage } from "../api/client";
import { keyOf, type Key } from "../api/types";
import { MissingRight } from "../layout/MissingRight";
import { useImageUrl } from "../useImageUrl";
import { useLoaded } from "../useLoaded";
import { Age } from "../words/AgeText";
import { bytes } from "../words/age";

/** One image, with its size and how long it took. */
export function ImageView({ of, path, query, round, title }: { of: Key; path: string; query: string; round: number; title: string }) {
  const { value, problem } = useLoaded<FetchedImage>(`${keyOf(of)} ${path} ${query} ${round}`, (signal) => {
    const params = new URLSearchParams(query);
    params.set("path", path);
    return api.image(of, params, signal);
  });
  return (
    <figure className="dr-image">
      <figcaption>
        <h3>{title}</h3>
      </figcaption>
      {problem?.status === 403 ? (
        <MissingRight to="image" namespace={of.namespace} />
      ) : problem ? (
        <Alert component="p" isInline variant="warning" title="No image" role="alert" className="dr-break">
          {problem.message}
        </Alert>
      ) : value ? (
        <Shown key={round} image={value} title={title} path={path} />
      ) : (
        <Skeleton shape="square" width="100%" screenreaderText={`Loading the image, ${title.toLowerCase()}`} />
      )}
    </figure>
  );
}

function Shown({ image, title, path }: { image: FetchedImage; title: string; path: string }) {
  const url = useImageUrl(image.blob);
  const [size, setSize] = useState<{ width: number; height: number }>();
  return (
    <>
      <div className="dr-image__frame">
        {url && (
          <img
            src={url}
            alt={`${path}, ${title.toLowerCase()}`}
            onLoad={(event) => setSize({ width: event.currentTarget.naturalWidth, height: event.currentTarget.naturalHeight })}
          />
        )}
      </div>
      <p className="dr-quiet">
        {size && `${size.width} × ${size.height} · `}
        {image.blob.type.replace("image/", "").toUpperCase()} · {bytes(image.blob.size)} · served <Age since={image.at} after=" ago" /> in{" "}
        {Math.round(image.milliseconds)} ms
      </p>
    </>
  );
}
