/** The URL of an image, for display. Invalid input does not throw. */
export const imageUrl = (host: string, path: string, query: string): string => host + encodeURI((path || "/").replace(/\p{Surrogate}/gu, "\ufffd")) + query;

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
export const escaped = (text: string): string => text.replace(/[&<>"]/g, (char) => entities[char] ?? char);

/** The name of the image file without extension, as a default for the alternative text. */
const nameOf = (path: string): string => (path.split("/").pop() ?? "").replace(/\.\w+$/, "");

/** An img element with escaped attributes. */
export const htmlOf = (url: string, path: string, attributes = ""): string => `<img src="${escaped(url)}"${attributes} alt="${escaped(nameOf(path))}">`;
