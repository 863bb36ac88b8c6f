import type { Darkroom } from "../api/types";
import { describeReason } from "../words/reasons";

/** The image of spec.probe, and whether it is served or why not. */
export function ImageCheck({ darkroom: { probe, status } }: { darkroom: Darkroom }) {
  if (!probe) {
    return "None: whether images are served is not checked";
  }
  const source = status.conditions?.find(({ type }) => type === "SourceReady");
  const found = source?.status === "True" ? "Served" : source?.reason ? describeReason(source.reason) : "Not checked yet";
  return (
    <>
      {probe.path}
      <div className="dr-quiet">{found}</div>
    </>
  );
}
