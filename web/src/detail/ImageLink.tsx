import { Button } from "@patternfly/react-core";
import type { Darkroom } from "../api/types";
import { Breakable } from "../words/Breakable";
import { CopyButton } from "./CopyButton";
import { useUrl } from "./useUrl";

interface Props {
  darkroom: Darkroom;
  path: string;
  query: string;
}

/** The URL of an image, to open and to copy. Without a routed host there is none. */
export function ImageLink({ darkroom, path, query }: Props) {
  const { url, problem } = useUrl(darkroom, path, query);
  if (!darkroom.status.domains[0]) {
    return <p className="dr-quiet">No URL: no host is routed yet.</p>;
  }
  if (!url) {
    return <p className="dr-quiet">{problem ? `No URL: ${problem.message}` : "Signing the URL …"}</p>;
  }
  return (
    <div className="dr-row dr-url">
      <code className="dr-break" aria-label="URL of the image">
        <Breakable text={url} />
      </code>
      <CopyButton text={url} label="Copy the URL" />
      <Button variant="secondary" component="a" href={url} target="_blank" rel="noreferrer">
        Open
      </Button>
    </div>
  );
}
