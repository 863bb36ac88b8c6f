import { queryText, type Params } from "./params";

/** The natural size of an image, in pixels. */
export interface Size {
  width: number;
  height: number;
}

/** One image of a srcset: its parameters and its descriptor, such as 640w or 2x. */
export interface Candidate {
  params: Params;
  descriptor: string;
}

/** The images that a browser may choose from, and the widths of the window for which it does. */
export interface Choice {
  candidates: Candidate[];
  sizes: string | undefined;
}

/** Widths that suit phones, tablets and large screens, in pixels. */
const widths = [320, 640, 960, 1280, 1920];

/** Densities of screens. */
const densities = [1, 2, 3];

/** The maximum width and height of Darkroom's results, in pixels. */
const largest = 2000;

const isTurned = ({ rot }: Params): boolean => !["", "0", "180"].includes(rot);

/**
 * The sizes of an image that a browser can choose from. None is larger than the original. An image with a fixed height
 * has multiples of its size. So has a rotated image, because its width does not follow from the parameters.
 */
export function choiceOf(params: Params, original: Size): Choice {
  const [w, h] = [Number(params.w), Number(params.h)];
  if (h > 0 || isTurned(params)) {
    const times = (n: number): Params => ({ ...params, w: w ? String(w * n) : "", h: h ? String(h * n) : "" });
    const fits = (n: number) => w * n <= Math.min(original.width, largest) && h * n <= Math.min(original.height, largest);
    const fitting = w || h ? densities.filter((n) => n === 1 || fits(n)) : [1];
    return { candidates: fitting.map((n) => ({ params: times(n), descriptor: `${n}x` })), sizes: undefined };
  }
  // The width in the parameters, and twice that width for dense screens.
  const shown = Math.min(w || original.width, original.width);
  const most = Math.min(2 * shown, original.width, largest);
  const chosen = [...new Set([...widths.filter((width) => width < most), Math.min(shown, most), most])].sort((a, b) => a - b);
  return {
    candidates: chosen.map((width) => ({ params: { ...params, w: String(width) }, descriptor: `${width}w` })),
    sizes: `(max-width: ${shown}px) 100vw, ${shown}px`,
  };
}

/**
 * Selects the useful images by their sizes in bytes, smallest first: the largest, and each that saves at least 10 % of
 * the next one.
 */
export function worthwhile(bytes: readonly number[]): boolean[] {
  let next = Infinity;
  return bytes.reduceRight<boolean[]>((kept, size) => {
    const keeps = size <= 0.9 * next;
    next = keeps ? size : next;
    return [keeps, ...kept];
  }, []);
}

/** The images for CSS, which selects by screen density only: those that are at least as wide as the image is shown. */
export function imageSetOf(urlFor: (query: string) => string, { candidates }: Choice, shown: number): string {
  const dense = candidates.flatMap(({ params, descriptor }) => {
    const n = descriptor.endsWith("w") ? parseInt(descriptor) / shown : parseInt(descriptor);
    return n >= 1 ? [`url("${urlFor(queryText(params))}") ${Number(n.toFixed(2))}x`] : [];
  });
  return `background-image: image-set(${dense.join(", ")});`;
}

/** The value of the attribute srcset. */
export const srcsetOf = (urlFor: (query: string) => string, candidates: readonly Candidate[]): string =>
  candidates.map(({ params, descriptor }) => `${urlFor(queryText(params))} ${descriptor}`).join(", ");
