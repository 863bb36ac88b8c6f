// Prints the URLs that client libraries build, for clients.txt: the name of the client, the size that it
// expects of an image of 600x400 pixels, and the URL. Those of imgix-signed are signed with the key below.
//
//   npm install --no-save --omit=optional @imgix/js-core@3.8.0 unpic@4.2.2 @unpic/core@1.0.3 next@16.4.6 react@19 react-dom@19
//   node clients.mjs > clients.txt
import ImgixClient from "@imgix/js-core";
import { transformProps } from "@unpic/core";
import { getImageProps } from "next/image.js";
import { transformUrl } from "unpic";

const key = "the first key, 0123456789";
const origin = "https://photos.example.com";
const print = (client, size, url) => console.log(`${client} ${size} ${url.replace(origin, "")}`);
const candidates = (set) => set.split(/,\s+/).map((each) => each.split(" "));

for (const [name, options] of [["imgix", {}], ["imgix-signed", { secureURLToken: key }]]) {
  const client = new ImgixClient({ domain: new URL(origin).host, ...options });
  print(name, "600x400", client.buildURL("/photo.jpg"));
  print(name, "300x200", client.buildURL("/photo.jpg", { w: 300, h: 200, fit: "crop", crop: "top,left" }));
  print(name, "300x200", client.buildURL("/photo.jpg", { w: 300, h: 300, fit: "max" }));
  print(name, "600x400", client.buildURL("/photo.jpg", { w: 900, fit: "max" }));
  print(name, "300x200", client.buildURL("/photo.jpg", { w: 300, h: 300, fit: "clip", auto: "format,compress" }));
  for (const [url, density] of candidates(client.buildSrcSet("/photo.jpg", { w: 60, h: 40 }))) {
    const dpr = parseInt(density, 10);
    print(name, `${60 * dpr}x${40 * dpr}`, url);
  }
  for (const [url, width] of candidates(client.buildSrcSet("/photo.jpg"))) { // its default, whatever the limits
    print(name, `${Math.min(parseInt(width, 10), 4096)}x`, url);
  }
  for (const [url, width] of candidates(client.buildSrcSet("/photo.jpg", { ar: "3:2" }, { minWidth: 90, maxWidth: 540 }))) {
    print(name, `${parseInt(width, 10)}x`, url);
  }
}
const unpic = (options) => transformUrl({ url: `${origin}/photo.jpg`, provider: "imgix", ...options });
print("unpic", "300x200", unpic({ width: 300 }));
print("unpic", "300x300", unpic({ width: 300, height: 300 }));
print("unpic", "400x400", unpic({ width: 900, height: 900 }));
print("unpic", "300x200", unpic({ width: 300, height: 200, quality: 60, format: "webp" }));
const src = `${origin}/photo.jpg`;
for (const layout of [{ layout: "fullWidth" }, { layout: "constrained", width: 600, height: 400 }, { layout: "fixed", width: 60, height: 40 }]) {
  for (const [url, width] of candidates(transformProps({ src, cdn: "imgix", ...layout }).srcset)) {
    print("unpic", `${Math.min(parseInt(width, 10), 600)}x`, url);
  }
}
// The loader of docs/clients.md.
const loader = ({ src, width }) => `${origin}${src}?w=${width}&fit=max&auto=format`;
for (const layout of [{ fill: true, sizes: "100vw" }, { width: 200, height: 133 }]) {
  for (const [url] of candidates(getImageProps({ src: "/photo.jpg", alt: "", loader, ...layout }).props.srcSet)) {
    print("next", `${Math.min(new URL(url).searchParams.get("w"), 600)}x`, url);
  }
}
