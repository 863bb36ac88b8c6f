/** The URL of an image. It is text for people, made from what they type: nothing here fails. */
export const imageUrl = (host: string, path: string, query: string): string => host + encodeURI((path || "/").replace(/\p{Surrogate}/gu, "\ufffd")) + query;

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
export const escaped = (text: string): string => text.replace(/[&<>"]/g, (char) => entities[char] ?? char);

/** The name of the image file, without its ending: an alternative text to begin with. */
const nameOf = (path: string): string => (path.split("/").pop() ?? "").replace(/\.\w+$/, "");

/** An img element, with further attributes that are escaped. */
export const htmlOf = (url: string, path: string, attributes = ""): string => `<img src="${escaped(url)}"${attributes} alt="${escaped(nameOf(path))}">`;
