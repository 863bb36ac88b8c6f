import { Alert, Skeleton } from "@patternfly/react-core";
import { useState } from "react";
import { api, type FetchedImage } from "../api/client";
import { keyOf, type Key } from "../api/types";
import { MissingRight } from "../layout/MissingRight";
import { useImageUrl } from "../useImageUrl";
import { useLoaded } from "../useLoaded";
import { Age, ago } from "../words/AgeText";
import { bytes } from "../words/age";
import { milliseconds } from "../words/format";

/** What an image is shown as. */
const kinds = {
  original: { title: "Original", loading: "Loading the image, original", alt: ", original" },
  result: { title: "Result", loading: "Loading the image, result", alt: ", result" },
  last: { title: "Last request", loading: "Loading the image, last request", alt: ", last request" },
};
type Kind = keyof typeof kinds;

/** One image, with its size and how long it took. */
export function ImageView({ of, path, query, round, kind }: { of: Key; path: string; query: string; round: number; kind: Kind }) {
  const { value, problem } = useLoaded<FetchedImage>(`${keyOf(of)} ${path} ${query} ${round}`, (signal) => {
    const params = new URLSearchParams(query);
    params.set("path", path);
    return api.image(of, params, signal);
  });
  return (
    <figure className="dr-image">
      <figcaption>
        <h3>{kinds[kind].title}</h3>
      </figcaption>
      {problem?.status === 403 ? (
        <MissingRight to="image" namespace={of.namespace} />
      ) : problem ? (
        <Alert component="p" isInline variant="warning" title="No image" role="alert" className="dr-break">
          {problem.message}
        </Alert>
      ) : value ? (
        <Shown key={round} image={value} kind={kind} path={path} />
      ) : (
        <Skeleton shape="square" width="100%" screenreaderText={kinds[kind].loading} />
      )}
    </figure>
  );
}

function Shown({ image, kind, path }: { image: FetchedImage; kind: Kind; path: string }) {
  const url = useImageUrl(image.blob);
  const [size, setSize] = useState<{ width: number; height: number }>();
  return (
    <>
      <div className="dr-image__frame">
        {url && (
          <img
            src={url}
            alt={path + kinds[kind].alt}
            onLoad={(event) => setSize({ width: event.currentTarget.naturalWidth, height: event.currentTarget.naturalHeight })}
          />
        )}
      </div>
      <p className="dr-quiet">
        {size && `${size.width} × ${size.height} · `}
        {image.blob.type.replace("image/", "").toUpperCase()} · {bytes(image.blob.size)} ·{" "}
        served <Age since={image.at} text={ago} /> in {milliseconds(image.milliseconds)}
      </p>
    </>
  );
}
