import { QueryClient } from "@tanstack/react-query";
import { asProblem } from "./problem";

/** How often a read is repeated without a response or while the server is busy. Other errors may come from a source. */
const maxRetries = 2;

/**
 * The reads that are not streamed. Views that request the same data share one request and its response, which is shown
 * until the next one arrives. App clears them when the user changes.
 */
export const reads = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (failures, thrown) => failures < maxRetries && [0, 429, 503].includes(asProblem(thrown).status),
      retryDelay: (failures) => 300 * 5 ** failures,
      // The server may be on this machine, which needs no network.
      networkMode: "always",
      refetchOnWindowFocus: false,
    },
  },
});

/** Repeats failed and pending reads once the connection is back. */
export const readAgain = (): void =>
  void reads.refetchQueries({ type: "active", predicate: ({ state }) => state.status === "error" || state.fetchStatus === "fetching" });
