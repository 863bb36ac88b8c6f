import type { Darkroom } from "../api/types";
import { separate } from "../words/conditions";

/** The image of spec.probe, and whether it is served or why not. */
export function ImageCheck({ darkroom: { probe, status } }: { darkroom: Darkroom }) {
  if (!probe) {
    return "None: whether images are served is not checked";
  }
  const source = status.conditions?.find(({ type }) => type === "SourceReady");
  const found = source?.status === "True" ? "Served" : separate(source?.reason ?? "NotCheckedYet");
  return (
    <>
      {probe.path}
      <div className="dr-quiet">{found}</div>
    </>
  );
}
