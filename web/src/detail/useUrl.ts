import { api } from "../api/client";
import { keyOf, type Darkroom } from "../api/types";
import { useLoaded } from "../useLoaded";
import { useSettled } from "../useSettled";
import { urlOf } from "../words/domains";

/** The delay after a change before a URL is signed, in milliseconds. */
const rest = 300;

/** Whether the gate refuses URLs without a signature. */
const isSigned = ({ gate }: Darkroom): boolean => gate?.signing !== undefined && gate.signing.mode !== "Report";

/** The URL of an image, signed if the Darkroom requires it; undefined until it is known. */
export function useUrl(darkroom: Darkroom, path: string, query = "") {
  const signed = isSigned(darkroom);
  const origin = urlOf(darkroom.status, darkroom.status.domains[0] ?? "");
  const wanted = path + query;
  const settled = useSettled(wanted, rest) === wanted;
  const { value, problem } = useLoaded(
    `signed ${keyOf(darkroom)} ${origin} ${wanted}`,
    async (signal) => {
      const params = new URLSearchParams(query);
      params.set("path", path);
      return origin + (await api.sign(darkroom, params, signal)).url;
    },
    { enabled: signed && settled && path !== "", once: true },
  );
  return signed ? { url: value, problem } : { url: imageUrl(origin, path, query), problem: undefined };
}

/** The URL of an image without a signature. Invalid input does not throw. */
export const imageUrl = (host: string, path: string, query = ""): string => host + encodeURI((path || "/").replace(/\p{Surrogate}/gu, "\ufffd")) + query;
