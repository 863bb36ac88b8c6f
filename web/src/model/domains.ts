import type { Darkroom, DarkroomInput, ServerSettings } from "../api/types";

const inNamespace = (domain: string, namespace = ""): string => domain.replaceAll("{namespace}", namespace);

/** The base domains that the operator offers, the default first. */
export const offeredDomains = ({ baseDomain, baseDomains }: Pick<ServerSettings, "baseDomain" | "baseDomains">): string[] => baseDomains ?? [baseDomain];

/** The base domain of a Darkroom. A new default of the operator applies only when the spec changes. */
export function baseDomainOf(darkroom: Darkroom, byDefault: string): string {
  const { baseDomain, observedGeneration } = darkroom.status;
  const kept = observedGeneration === darkroom.generation ? baseDomain : undefined;
  return inNamespace(darkroom.baseDomain ?? kept ?? byDefault, darkroom.namespace);
}

/** The base domain of a Darkroom in a form. */
export const chosenDomain = (input: DarkroomInput, byDefault: string): string => inNamespace(input.baseDomain ?? byDefault, input.namespace);
