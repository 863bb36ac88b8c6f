import type { Darkroom } from "../src/api/types";

/** A Darkroom with a web folder that is ready; tests pass the fields that differ. */
export function darkroom(part: Partial<Darkroom> = {}): Darkroom {
  const name = part.name ?? "cats";
  return {
    name,
    namespace: "photos",
    source: { type: "WebFolder", baseUrl: "https://example.com/images" },
    subDomains: [name],
    replicas: 1,
    uid: `uid-${name}`,
    resourceVersion: "10",
    etag: '"10"',
    generation: 1,
    createdAt: "2026-01-01T00:00:00Z",
    status: { phase: "Ready", domains: [`${name}.darkroom.example.com`], version: "v0.4.2", replicas: 1, readyReplicas: 1, pods: "1/1" },
    ...part,
  };
}
