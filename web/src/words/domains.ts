import type { Darkroom } from "../api/types";

/** The URL of a host: https if its Ingress has a certificate. Gateways end TLS by themselves. */
export function urlOf(darkroom: Pick<Darkroom, "ingress" | "gateway">, host: string): string {
  const secure = darkroom.ingress?.tlsSecretName ?? darkroom.gateway;
  return `${secure ? "https" : "http"}://${host}`;
}
