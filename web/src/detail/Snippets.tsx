import { ClipboardCopy, FormGroup } from "@patternfly/react-core";
import type { Darkroom } from "../api/types";
import { urlOf } from "../words/domains";
import { htmlOf, imageUrl, markdownOf } from "./snippets";

/** The URL of an image, as text, HTML and Markdown to copy. Without a routed host there is none. */
export function Snippets({ darkroom, path, query }: { darkroom: Darkroom; path: string; query: string }) {
  const host = darkroom.status.domains[0];
  if (!host) {
    return <p className="dr-quiet">No URL: no host is routed yet.</p>;
  }
  const url = imageUrl(urlOf(darkroom.status, host), path, query);
  return (
    <div className="dr-snippets">
      <Snippet format="URL" id="image-url" text={url} />
      <Snippet format="HTML" id="image-html" text={htmlOf(url, path)} />
      <Snippet format="Markdown" id="image-markdown" text={markdownOf(url, path)} />
    </div>
  );
}

function Snippet({ format, id, text }: { format: string; id: string; text: string }) {
  const copy = `Copy the ${format}`;
  return (
    <FormGroup role="group" label={format} fieldId={id}>
      <ClipboardCopy isReadOnly hoverTip={copy} clickTip="Copied" textAriaLabel={`${format} of the image`} copyAriaLabel={copy}>
        {text}
      </ClipboardCopy>
    </FormGroup>
  );
}
