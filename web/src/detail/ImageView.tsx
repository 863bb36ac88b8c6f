import { Alert, AlertActionLink } from "@patternfly/react-core";
import { useState } from "react";
import { api, type FetchedImage } from "../api/client";
import type { Problem } from "../api/problem";
import { keyOf, type Key } from "../api/types";
import { Loading } from "../layout/Loading";
import { MissingRight } from "../layout/MissingRight";
import { useImageUrl } from "../useImageUrl";
import { useLoaded, type Loaded } from "../useLoaded";
import { bytes } from "../words/age";
import type { Size } from "./srcset";

/**
 * An image as the Darkroom serves it now. The previous image stays until it has loaded, so that the page does not jump.
 * A new round requests the same image again.
 */
export const useImage = (of: Key, path: string, query: string, { round = 0, enabled = true } = {}): Loaded<FetchedImage> =>
  useLoaded(
    `image ${keyOf(of)} ${path} ${query} ${round}`,
    (signal) => {
      const params = new URLSearchParams(query);
      params.set("path", path);
      return api.image(of, params, signal);
    },
    { enabled, keep: true },
  );

interface Props {
  image: Loaded<FetchedImage>;
  namespace: string;
  title: string;
  alt: string;
  onSize?: (size: Size) => void;
}

/** One image with its size, or the reason why there is none. */
export function ImageView({ image: { value, problem, reload }, namespace, title, alt, onSize }: Props) {
  return (
    <figure className="dr-image">
      <figcaption>
        <h3>{title}</h3>
      </figcaption>
      {problem ? (
        <Refused problem={problem} reload={reload} namespace={namespace} />
      ) : value ? (
        <Shown image={value} alt={alt} onSize={onSize} />
      ) : (
        <Loading height="12rem" label={`Loading ${alt}`} />
      )}
    </figure>
  );
}

/** Why there is no image. It shows no message if the view already shows the cause. */
export function Refused({ problem, reload, namespace, isQuiet = false }: { problem: Problem; reload: () => void; namespace: string; isQuiet?: boolean }) {
  if (problem.status === 403) {
    return <MissingRight to="image" namespace={namespace} />;
  }
  if (isQuiet) {
    return <p className="dr-quiet">No image: {problem.message}</p>;
  }
  return (
    <Alert component="p" isInline variant="warning" title="No image" role="alert" className="dr-break" actionLinks={<AlertActionLink onClick={reload}>Try again</AlertActionLink>}>
      {problem.message}
    </Alert>
  );
}

function Shown({ image, alt, onSize }: { image: FetchedImage; alt: string; onSize: ((size: Size) => void) | undefined }) {
  const url = useImageUrl(image.blob);
  const [size, setSize] = useState<Size>();
  return (
    <>
      <div className="dr-image__frame">
        {url && (
          <img
            src={url}
            alt={alt}
            onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) => {
              setSize({ width, height });
              onSize?.({ width, height });
            }}
          />
        )}
      </div>
      <p className="dr-quiet dr-small">
        {size && `${size.width} × ${size.height} · `}
        {image.blob.type.replace("image/", "").toUpperCase()} · {bytes(image.blob.size)}
      </p>
    </>
  );
}
