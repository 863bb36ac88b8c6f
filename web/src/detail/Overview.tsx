import { DescriptionList, DescriptionListDescription, DescriptionListGroup, DescriptionListTerm, List, ListItem } from "@patternfly/react-core";
import { useState, type ReactNode } from "react";
import type { Access, Darkroom } from "../api/types";
import { Age, ago } from "../words/AgeText";
import { Breakable } from "../words/Breakable";
import { urlOf } from "../words/domains";
import { plural } from "../words/format";
import { phaseOf } from "../words/phases";
import { placeOf, sourceNames } from "../words/sources";
import { typeOf } from "../model/model";
import { Conditions } from "./Conditions";
import { CopyButton } from "./CopyButton";
import { FirstImage } from "./FirstImage";
import { Fold } from "./Fold";
import { Pods } from "./Pods";
import { ProblemBox } from "./ProblemBox";
import { Progress } from "./Progress";

/** The image first, then what is folded: conditions, pods and details. */
export function Overview({ darkroom, access }: { darkroom: Darkroom; access: Access | undefined }) {
  /** Counts the checks that the user asked for. */
  const [round, setRound] = useState(0);
  const { status } = darkroom;
  return (
    <div className="dr-stack">
      <ProblemBox darkroom={darkroom} access={access} onCheck={() => setRound(round + 1)} />
      <FirstImage darkroom={darkroom} access={access} round={round} />
      <Progress darkroom={darkroom} />
      <Fold id="conditions" title="Conditions">
        <Conditions conditions={status.conditions ?? []} />
      </Fold>
      <Fold id="pods" title={`Pods: ${(status.pods ?? "0/0").replace("/", " of ")} ready`} isOpen={phaseOf(darkroom) !== "Ready" && status.replicas > 0}>
        <Pods darkroom={darkroom} mayReadLogs={access?.log !== false} />
      </Fold>
      <Fold id="details" title="Details">
        <Details darkroom={darkroom} />
      </Fold>
    </div>
  );
}

function Details({ darkroom }: { darkroom: Darkroom }) {
  const { source, status, autoscaling } = darkroom;
  const image = darkroom.image?.repository;
  const entries: [string, ReactNode][] = [
    ["Namespace", darkroom.namespace],
    ["Source", sourceNames[typeOf(source)].name],
    ["Images from", placeOf(source) || "–"],
    ...(source.endpoint ? ([["Endpoint", source.endpoint]] as [string, ReactNode][]) : []),
    ...(source.region ? ([["Region", source.region]] as [string, ReactNode][]) : []),
    ...(source.credentials ? ([["Credentials", credentialsOf(darkroom)]] as [string, ReactNode][]) : []),
    ["Version", status.version ?? darkroom.version ?? "–"],
    ...(image ? ([["Container image", image]] as [string, ReactNode][]) : []),
    ...(autoscaling ? ([["Autoscaling", `${autoscaling.minReplicas ?? 1} to ${plural(autoscaling.maxReplicas, "pod")}`]] as [string, ReactNode][]) : []),
    ["Domains", <Domains key="domains" darkroom={darkroom} />],
    ["Cluster address", status.address ?? "–"],
    ["Created", <Age key="created" since={darkroom.createdAt} text={ago} />],
  ];
  return (
    <DescriptionList isHorizontal isCompact horizontalTermWidthModifier={{ default: "14ch" }}>
      {entries.map(([term, value]) => (
        <DescriptionListGroup key={term}>
          <DescriptionListTerm>{term}</DescriptionListTerm>
          <DescriptionListDescription className="dr-break">{value}</DescriptionListDescription>
        </DescriptionListGroup>
      ))}
    </DescriptionList>
  );
}

function credentialsOf({ source }: Darkroom): string {
  return source.credentials === "secretRef" ? `Secret ${source.credentialsSecretRef?.name ?? ""}` : "Inline, in the resource";
}

function Domains({ darkroom }: { darkroom: Darkroom }) {
  const { domains } = darkroom.status;
  if (domains.length === 0) {
    return <span className="dr-quiet">None routed yet</span>;
  }
  return (
    <List isPlain>
      {domains.map((host) => (
        <ListItem key={host}>
          <span className="dr-host">
            <a href={urlOf(darkroom.status, host)} target="_blank" rel="noreferrer" className="dr-break">
              <Breakable text={host} />
            </a>
            <CopyButton text={host} label={`Copy ${host}`} />
          </span>
        </ListItem>
      ))}
    </List>
  );
}
