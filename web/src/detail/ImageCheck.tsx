import type { Darkroom } from "../api/types";
import { describeReason } from "../words/reasons";
import { t } from "../words/t";

/** The image of spec.probe, and whether it is served or why not. */
export function ImageCheck({ darkroom: { probe, status } }: { darkroom: Darkroom }) {
  if (!probe) {
    return t("None: whether images are served is not checked");
  }
  const source = status.conditions?.find(({ type }) => type === "SourceReady");
  const found = source?.status === "True" ? t("Served") : source?.reason ? describeReason(source.reason) : t("Not checked yet");
  return (
    <>
      {probe.path}
      <div className="dr-quiet">{found}</div>
    </>
  );
}
