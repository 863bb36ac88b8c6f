import type { Status } from "../api/types";

/** The URL of a routed host. The operator reports one URL; all hosts have its scheme and port. */
export function urlOf({ url }: Pick<Status, "url">, host: string): string {
  const [, scheme = "http", port = ""] = /^(https?):\/\/[^/:]+(:\d+)?/.exec(url ?? "") ?? [];
  return `${scheme}://${host}${port}`;
}
