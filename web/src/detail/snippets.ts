/** The URL of an image. The path has no %, ?, # or \. */
export const imageUrl = (host: string, path: string, query: string): string => host + encodeURI(path || "/") + query;

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (char) => entities[char] ?? char);

/** The name of the image file, without its ending: an alternative text to begin with. */
const nameOf = (path: string): string => (path.split("/").pop() ?? "").replace(/\.\w+$/, "");

/** An img element. */
export const htmlOf = (url: string, path: string): string => `<img src="${escaped(url)}" alt="${escaped(nameOf(path))}">`;

/** An image in Markdown. Brackets would end its parts. */
export const markdownOf = (url: string, path: string): string =>
  `![${nameOf(path).replace(/[[\]]/g, "\\$&")}](${url.replace(/\(/g, "%28").replace(/\)/g, "%29")})`;

/** Widths that suit phones, tablets and large screens, in pixels. */
const widths = [320, 640, 1280, 1920];

/** An img element with a choice of widths. */
export function srcsetOf(url: string, path: string): string {
  const at = (width: number) => {
    const sized = new URL(url);
    sized.searchParams.set("w", String(width));
    return sized.toString().replaceAll("%2C", ",");
  };
  const srcset = widths.map((width) => `${at(width)} ${width}w`).join(", ");
  return `<img src="${escaped(at(640))}" srcset="${escaped(srcset)}" sizes="100vw" alt="${escaped(nameOf(path))}">`;
}
