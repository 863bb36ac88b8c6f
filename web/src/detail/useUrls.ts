import { api } from "../api/client";
import { keyOf, type Darkroom } from "../api/types";
import { useLoaded } from "../useLoaded";
import { useSettled } from "../useSettled";
import { urlOf } from "../words/domains";
import { imageUrl } from "./snippets";

/** The delay after a change before URLs are signed, in milliseconds. */
const rest = 300;

/** Whether the gate rejects URLs without a signature. */
export const isSigned = ({ gate }: Darkroom): boolean => gate?.signing !== undefined && gate.signing.mode !== "Report";

/** The URLs of an image for some queries, signed if the Darkroom requires it; undefined until they are known. */
export function useUrls(darkroom: Darkroom, path: string, queries: readonly string[]) {
  const signed = isSigned(darkroom);
  const origin = urlOf(darkroom.status, darkroom.status.domains[0] ?? "");
  const wanted = JSON.stringify([path, ...queries]);
  const settled = useSettled(wanted, rest) === wanted;
  const { value, problem } = useLoaded(
    `signed ${keyOf(darkroom)} ${origin} ${wanted}`,
    async (signal) => {
      const urls = new Map<string, string>();
      for (const query of queries) {
        const params = new URLSearchParams(query);
        params.set("path", path);
        urls.set(query, origin + (await api.sign(darkroom, params, signal)).url);
      }
      return urls;
    },
    { enabled: signed && settled && path !== "", once: true },
  );
  if (!signed) {
    return { urlFor: (query: string) => imageUrl(origin, path, query), problem: undefined };
  }
  return { urlFor: value && ((query: string) => value.get(query) ?? ""), problem };
}
