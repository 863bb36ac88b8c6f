import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { asProblem, type Problem } from "./api/problem";
import { reads } from "./api/reads";

export interface Loaded<T> {
  value: T | undefined;
  problem: Problem | undefined;
  reload: () => void;
}

interface Options {
  /** The interval of reads while the page is visible, in milliseconds. */
  every?: number;
  /** The cache lifetime of a response, in milliseconds. */
  fresh?: number;
  /** Whether to read. */
  enabled?: boolean;
  /** Whether a response is dropped once no view uses it. */
  once?: boolean;
  /** Whether the previous value is shown until the new one arrives. */
  keep?: boolean;
}

/**
 * Reads something by a key, which identifies the response in all views. A failure does not remove the last response.
 * The failure of a repeated read is shown until the next response: the query forgets it at once if it never had a
 * response.
 */
export function useLoaded<T>(key: string, load: (signal: AbortSignal) => Promise<T>, { every, fresh = 0, enabled = true, once, keep }: Options = {}): Loaded<T> {
  const { data, error, isFetching, refetch } = useQuery(
    {
      queryKey: [key],
      queryFn: ({ signal }) => load(signal),
      refetchInterval: every ?? false,
      staleTime: fresh,
      enabled,
      ...(once ? { gcTime: 0 } : {}),
      ...(keep ? { placeholderData: keepPreviousData } : {}),
    },
    reads,
  );
  const [last, setLast] = useState({ key, error });
  if (last.key !== key || (!isFetching && last.error !== error)) {
    setLast({ key, error });
  }
  const failure = error ?? (every && last.key === key && isFetching ? last.error : null);
  return { value: data, problem: failure ? asProblem(failure) : undefined, reload: () => void refetch() };
}
