import type { Status } from "../api/types";

/** The URL of a routed host. The operator reports one URL; all hosts have its scheme. */
export const urlOf = ({ url }: Pick<Status, "url">, host: string): string => `${url?.startsWith("https:") ? "https" : "http"}://${host}`;
