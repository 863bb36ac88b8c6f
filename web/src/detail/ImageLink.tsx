import { Button, DropdownItem } from "@patternfly/react-core";
import type { Darkroom } from "../api/types";
import { Menu } from "../layout/Menu";
import { useCopy } from "../words/copy";
import { Breakable } from "../words/Breakable";
import { queryText } from "./params";
import { escaped, htmlOf } from "./snippets";
import { imageSetOf, srcsetOf, type Choice } from "./srcset";
import { isSigned, useUrls } from "./useUrls";

interface Props {
  darkroom: Darkroom;
  path: string;
  query: string;
  /** The candidate sizes; undefined while the size of the original is unknown. */
  choice?: Choice | undefined;
}

/** The URL of an image, to open and to copy in several formats. Without a routed host there is no URL. */
export function ImageLink({ darkroom, path, query, choice }: Props) {
  const [copied, copy] = useCopy<string>();
  const { urlFor, problem } = useUrls(darkroom, path, [query, ...(choice?.candidates ?? []).map(({ params }) => queryText(params))]);
  if (!darkroom.status.domains[0]) {
    return <p className="dr-quiet">No URL: no host is routed yet.</p>;
  }
  if (!urlFor) {
    return <p className="dr-quiet">{problem ? `No URL: ${problem.message}` : "Signing the URL …"}</p>;
  }
  const url = urlFor(query);
  const formats: Record<string, string> = { URL: url, HTML: htmlOf(url, path) };
  if (choice) {
    const sizes = choice.sizes ? ` sizes="${choice.sizes}"` : "";
    formats["srcset"] = htmlOf(url, path, ` srcset="${escaped(srcsetOf(urlFor, choice.candidates))}"${sizes}`);
    const shown = Number(/(\d+)px$/.exec(choice.sizes ?? "")?.[1]);
    formats["CSS"] = imageSetOf(urlFor, choice, shown);
    // A loader cannot sign: it runs in browsers.
    if (choice.sizes && !isSigned(darkroom)) {
      const others = query.replace(/^\?/, "").split("&").filter((pair) => pair !== "" && !pair.startsWith("w="));
      const width = [...others, "w=${width}"].join("&");
      formats["Next.js"] = `<Image src="${escaped(urlFor(""))}" loader={({ src, width }) => \`\${src}?${width}\`} sizes="${choice.sizes}" fill alt="" />`;
    }
  }
  return (
    <div className="dr-row dr-url">
      <code className="dr-break" aria-label="URL of the image">
        <Breakable text={url} />
      </code>
      <Menu toggle={{ children: copied ? `Copied ${copied}` : "Copy" }} onSelect={(format) => copy(formats[format] ?? "", format)}>
        {Object.keys(formats).map((format) => (
          <DropdownItem key={format} value={format}>
            {format}
          </DropdownItem>
        ))}
      </Menu>
      <Button variant="secondary" component="a" href={url} target="_blank" rel="noreferrer">
        Open
      </Button>
    </div>
  );
}
