/** What can be asked of a picture, as Darkroom's URLs say it. Empty means not asked. */
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
  format: boolean;
}

export const noParams: Params = { w: "", h: "", fit: "", crop: "", mono: false, blur: "", flip: "", rot: "", compress: false, format: false };

/** The query of a picture's URL, in the order in which people write it. */
export function queryOf(params: Params): URLSearchParams {
  const out = new URLSearchParams();
  const add = (name: string, value: string) => {
    if (value !== "") {
      out.set(name, value);
    }
  };
  add("w", params.w);
  add("h", params.h);
  // Darkroom crops and scales to a size alone.
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
  add("auto", [params.compress && "compress", params.format && "format"].filter(Boolean).join(","));
  return out;
}

/** The same as it stands in a URL. Commas need no escape there. */
export const queryText = (params: Params): string => {
  const text = queryOf(params).toString().replaceAll("%2C", ",");
  return text && `?${text}`;
};

/** What the server would refuse, before it is asked. */
export function wrongWith(path: string, params: Params): string | undefined {
  if (!path.startsWith("/") || path.length < 2) {
    return "The path must begin with / and name a picture, such as /images/cat.jpg";
  }
  if (/[?#%\\]/.test(path)) {
    return "The path must be plain, without ?, # or %: what is asked of the picture stands below";
  }
  for (const size of [params.w, params.h]) {
    if (size !== "" && !(Number(size) >= 1 && Number(size) <= 2000)) {
      return "Width and height must be from 1 to 2000 pixels";
    }
  }
  return undefined;
}
