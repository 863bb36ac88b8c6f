import { Button, Dropdown, DropdownItem, DropdownList, MenuToggle } from "@patternfly/react-core";
import { useState } from "react";
import type { Darkroom } from "../api/types";
import { Breakable } from "../words/Breakable";
import { urlOf } from "../words/domains";
import { htmlOf, imageUrl, markdownOf, srcsetOf } from "./snippets";

/** The URL of an image on one line, to copy in several formats and to open. Without a routed host there is none. */
export function ImageLink({ darkroom, path, query }: { darkroom: Darkroom; path: string; query: string }) {
  const [open, setOpen] = useState(false);
  const [copied, setCopied] = useState<string>();
  const host = darkroom.status.domains[0];
  if (!host) {
    return <p className="dr-quiet">No URL: no host is routed yet.</p>;
  }
  const url = imageUrl(urlOf(darkroom.status, host), path, query);
  const formats = { URL: url, HTML: htmlOf(url, path), srcset: srcsetOf(url, path), Markdown: markdownOf(url, path) };
  const copy = async (format: keyof typeof formats) => {
    setOpen(false);
    await navigator.clipboard.writeText(formats[format]);
    setCopied(format);
  };
  return (
    <div className="dr-row dr-url">
      <code className="dr-break" aria-label="URL of the image">
        <Breakable text={url} />
      </code>
      <Dropdown
        isOpen={open}
        onOpenChange={setOpen}
        onSelect={(_, format) => void copy(format as keyof typeof formats)}
        toggle={(ref) => (
          <MenuToggle ref={ref} isExpanded={open} onClick={() => setOpen(!open)}>
            {copied ? `Copied ${copied}` : "Copy"}
          </MenuToggle>
        )}
      >
        <DropdownList>
          {Object.keys(formats).map((format) => (
            <DropdownItem key={format} value={format}>
              {format}
            </DropdownItem>
          ))}
        </DropdownList>
      </Dropdown>
      <Button variant="secondary" component="a" href={url} target="_blank" rel="noreferrer">
        Open
      </Button>
    </div>
  );
}
