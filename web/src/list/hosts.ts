import { keyOf, type Darkroom } from "../api/types";
import { baseDomainOf } from "../model/domains";
import { order } from "./query";

/** The state of a host at one Darkroom that claims it. */
export type HostState = "routed" | "conflict" | "waiting";

export interface HostClaim {
  host: string;
  darkroom: Darkroom;
  state: HostState;
  /** The other Darkrooms that claim it, as far as they are visible. */
  others: Darkroom[];
}

/**
 * Every host that Darkrooms claim or serve, sorted. A host belongs to one Darkroom: what
 * others claim and do not serve is a conflict, also if its owner is not visible. The base
 * domain is the operator's default.
 */
export function hostsOf(darkrooms: readonly Darkroom[], baseDomain: string): HostClaim[] {
  const claimants = new Map<string, Set<Darkroom>>();
  for (const darkroom of darkrooms) {
    const domain = baseDomainOf(darkroom, baseDomain);
    for (const host of [...darkroom.subDomains.map((subDomain) => `${subDomain}.${domain}`), ...darkroom.status.domains]) {
      claimants.set(host, (claimants.get(host) ?? new Set()).add(darkroom));
    }
  }
  const out: HostClaim[] = [];
  for (const [host, claims] of claimants) {
    for (const darkroom of claims) {
      const others = [...claims].filter((other) => other !== darkroom);
      const routed = darkroom.status.domains.includes(host);
      const state: HostState = routed ? "routed" : others.length > 0 || hasConflict(darkroom) ? "conflict" : "waiting";
      out.push({ host, darkroom, state, others });
    }
  }
  return out.sort((a, b) => order(a.host, b.host) || order(keyOf(a.darkroom), keyOf(b.darkroom)));
}

const hasConflict = ({ status }: Darkroom): boolean =>
  status.conditions?.some(({ type, status: value, reason }) => type === "DomainsReady" && value === "False" && reason === "DomainConflict") ?? false;

/** The claims whose host or Darkroom contains all words. */
export function searchHosts(claims: readonly HostClaim[], search: string, conflictsOnly: boolean): HostClaim[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return claims.filter(({ host, darkroom, state }) => {
    const text = `${host} ${keyOf(darkroom)}`;
    return (!conflictsOnly || state === "conflict") && words.every((word) => text.includes(word));
  });
}
