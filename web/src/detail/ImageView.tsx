import { Alert, AlertActionLink, Skeleton } from "@patternfly/react-core";
import { useState } from "react";
import { api, type FetchedImage } from "../api/client";
import { keyOf, type Key } from "../api/types";
import { MissingRight } from "../layout/MissingRight";
import { useImageUrl } from "../useImageUrl";
import { useLoaded } from "../useLoaded";
import { bytes } from "../words/age";

interface Props {
  of: Key;
  path: string;
  query: string;
  /** Counts requests, so that the same image can be requested again. */
  round?: number;
  title?: string;
  alt: string;
  /** The view already says what is wrong. */
  isQuiet?: boolean;
  /** Called with each image that was served. */
  onServed?: (image: FetchedImage) => void;
}

/** One image as the Darkroom serves it now, with its size. */
export function ImageView({ of, path, query, round = 0, title, alt, isQuiet = false, onServed }: Props) {
  const { value, problem, reload } = useLoaded<FetchedImage>(`${keyOf(of)} ${path} ${query} ${round}`, async (signal) => {
    const params = new URLSearchParams(query);
    params.set("path", path);
    const image = await api.image(of, params, signal);
    onServed?.(image);
    return image;
  });
  // While the next image is loading, the one before stays: the page does not jump.
  const [last, setLast] = useState<FetchedImage>();
  if (value && value !== last) {
    setLast(value);
  }
  const shown = value ?? last;
  return (
    <figure className="dr-image">
      {title && (
        <figcaption>
          <h3>{title}</h3>
        </figcaption>
      )}
      {problem?.status === 403 ? (
        <MissingRight to="image" namespace={of.namespace} />
      ) : problem && isQuiet ? (
        <p className="dr-quiet">No image: {problem.message}</p>
      ) : problem ? (
        <Alert component="p" isInline variant="warning" title="No image" role="alert" className="dr-break" actionLinks={<AlertActionLink onClick={reload}>Try again</AlertActionLink>}>
          {problem.message}
        </Alert>
      ) : shown ? (
        <Shown image={shown} alt={alt} />
      ) : (
        <Skeleton shape="square" width="100%" screenreaderText={`Loading ${alt}`} />
      )}
    </figure>
  );
}

function Shown({ image, alt }: { image: FetchedImage; alt: string }) {
  const url = useImageUrl(image.blob);
  const [size, setSize] = useState<{ width: number; height: number }>();
  return (
    <>
      <div className="dr-image__frame">
        {url && <img src={url} alt={alt} onLoad={(event) => setSize({ width: event.currentTarget.naturalWidth, height: event.currentTarget.naturalHeight })} />}
      </div>
      <p className="dr-quiet dr-small">
        {size && `${size.width} × ${size.height} · `}
        {image.blob.type.replace("image/", "").toUpperCase()} · {bytes(image.blob.size)}
      </p>
    </>
  );
}
