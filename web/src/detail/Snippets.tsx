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
      {([["URL", url], ["HTML", htmlOf(url, path)], ["Markdown", markdownOf(url, path)]] as const).map(([name, text]) => (
        <FormGroup key={name} role="group" label={name} fieldId={`image-${name.toLowerCase()}`}>
          <ClipboardCopy isReadOnly hoverTip={`Copy the ${name}`} clickTip="Copied" textAriaLabel={`${name} of the image`} copyAriaLabel={`Copy the ${name}`}>
            {text}
          </ClipboardCopy>
        </FormGroup>
      ))}
    </div>
  );
}
