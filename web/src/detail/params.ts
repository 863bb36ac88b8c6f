/** Parameters of an image in the URLs of Darkroom. Empty means not set. */
export interface Params {
  w: string;
  h: string;
  fit: "" | "crop" | "scale";
  crop: string;
  mono: boolean;
  blur: string;
  flip: "" | "h" | "v" | "vh";
  rot: string;
  compress: boolean;
  /** WebP for browsers that accept it; requires a gate. */
  webp: boolean;
}

export const noParams: Params = { w: "", h: "", fit: "", crop: "", mono: false, blur: "", flip: "", rot: "", compress: false, webp: false };

/** Sizes that pages often need. */
export const presets = {
  Thumbnail: { ...noParams, w: "200", h: "200", fit: "crop", compress: true },
  Card: { ...noParams, w: "640", compress: true },
  Hero: { ...noParams, w: "1600", compress: true },
} satisfies Record<string, Params>;

/** How much lighter or heavier an image became, in bytes. */
export function savedBy(before: number, after: number): string {
  const percent = Math.round((1 - after / before) * 100);
  if (percent === 0) {
    return "As large as the original";
  }
  return percent > 0 ? `${percent} % lighter` : `${-percent} % heavier`;
}

/** The query of an image's URL. */
export function queryOf(params: Params): URLSearchParams {
  const out = new URLSearchParams();
  const add = (name: string, value: string) => {
    if (value !== "") {
      out.set(name, value);
    }
  };
  add("w", params.w);
  add("h", params.h);
  // Darkroom crops and scales only to a full size.
  if (params.w !== "" && params.h !== "") {
    add("fit", params.fit);
    if (params.fit === "crop") {
      add("crop", params.crop);
    }
  }
  add("mono", params.mono ? "000000" : "");
  add("blur", params.blur);
  add("flip", params.flip);
  add("rot", params.rot);
  add("auto", [params.compress ? "compress" : "", params.webp ? "format" : ""].filter(Boolean).join(","));
  return out;
}

/** The query as text. Commas need no escaping. */
export const queryText = (params: Params): string => {
  const text = queryOf(params).toString().replaceAll("%2C", ",");
  return text && `?${text}`;
};

/** The reason why the server would reject a path. */
export function wrongWith(path: string): string | undefined {
  if (!path.startsWith("/") || path.length < 2) {
    return "Enter the path of an image that starts with /, such as /images/cat.jpg";
  }
  if (/[?#%\\]/.test(path)) {
    return "The path must not contain ?, #, % or \\; use the fields below for parameters";
  }
  return undefined;
}
