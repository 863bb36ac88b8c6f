import { Skeleton } from "@patternfly/react-core";
import { useState } from "react";
import { api, type FetchedImage } from "../api/client";
import { keyOf, type Key } from "../api/types";
import { MissingRight } from "../layout/MissingRight";
import { Alert } from "../patternfly/Alert";
import { useImageUrl } from "../useImageUrl";
import { useLoaded } from "../useLoaded";
import { Age, ago } from "../words/AgeText";
import { bytes } from "../words/age";
import { milliseconds, number } from "../words/format";
import { msg, rich, t } from "../words/t";

/** What an image is shown as. */
const kinds = {
  original: { title: msg("Original"), loading: msg("Loading the image, original"), alt: msg("{path}, original") },
  result: { title: msg("Result"), loading: msg("Loading the image, result"), alt: msg("{path}, result") },
  last: { title: msg("Last request"), loading: msg("Loading the image, last request"), alt: msg("{path}, last request") },
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
        <h3>{t(kinds[kind].title)}</h3>
      </figcaption>
      {problem?.status === 403 ? (
        <MissingRight to="image" namespace={of.namespace} />
      ) : problem ? (
        <Alert component="p" isInline variant="warning" title={t("No image")} role="alert" className="dr-break">
          {problem.message}
        </Alert>
      ) : value ? (
        <Shown key={round} image={value} kind={kind} path={path} />
      ) : (
        <Skeleton shape="square" width="100%" screenreaderText={t(kinds[kind].loading)} />
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
            alt={t(kinds[kind].alt, { path })}
            onLoad={(event) => setSize({ width: event.currentTarget.naturalWidth, height: event.currentTarget.naturalHeight })}
          />
        )}
      </div>
      <p className="dr-quiet">
        {size && `${number(size.width)} × ${number(size.height)} · `}
        {image.blob.type.replace("image/", "").toUpperCase()} · {bytes(image.blob.size)} ·{" "}
        {rich("served {age} in {duration}", { age: <Age since={image.at} text={ago} />, duration: milliseconds(image.milliseconds) })}
      </p>
    </>
  );
}
