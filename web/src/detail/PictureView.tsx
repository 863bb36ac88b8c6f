import { Alert, Skeleton } from "@patternfly/react-core";
import { useEffect, useState } from "react";
import { api, type Picture } from "../api/client";
import { keyOf, type Key } from "../api/types";
import { useLoaded } from "../useLoaded";
import { bytes } from "../words/age";

/** One picture with what it weighs and took. */
export function PictureView({ of, path, query, round, title }: { of: Key; path: string; query: string; round: number; title: string }) {
  const { value, problem } = useLoaded<Picture>(`${keyOf(of)} ${path} ${query} ${round}`, (signal) => {
    const params = new URLSearchParams(query);
    params.set("path", path);
    return api.picture(of, params, signal);
  });
  return (
    <figure className="dr-picture">
      <figcaption>
        <h3>{title}</h3>
      </figcaption>
      {problem ? (
        <Alert component="p" isInline variant="warning" title={problem.status === 403 ? "You may not fetch pictures here" : "No picture"} role="alert" className="dr-break">
          {problem.message}
        </Alert>
      ) : value ? (
        <Shown key={round} picture={value} title={title} path={path} />
      ) : (
        <Skeleton shape="square" width="100%" screenreaderText={`Loading the picture, ${title.toLowerCase()}`} />
      )}
    </figure>
  );
}

function Shown({ picture, title, path }: { picture: Picture; title: string; path: string }) {
  const [url, setUrl] = useState<string>();
  const [size, setSize] = useState<{ width: number; height: number }>();
  useEffect(() => {
    const made = URL.createObjectURL(picture.blob);
    // eslint-disable-next-line react-hooks/set-state-in-effect -- the URL must be given back, which rendering cannot
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [picture]);
  return (
    <>
      <div className="dr-picture__frame">
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
        {picture.blob.type.replace("image/", "").toUpperCase()} · {bytes(picture.blob.size)} · {Math.round(picture.milliseconds)} ms
      </p>
    </>
  );
}
