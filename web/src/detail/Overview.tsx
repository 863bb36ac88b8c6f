import { DescriptionList, DescriptionListDescription, DescriptionListGroup, DescriptionListTerm, List, ListItem } from "@patternfly/react-core";
import { useState, type ReactNode } from "react";
import type { Access, Darkroom } from "../api/types";
import { Age, ago } from "../words/AgeText";
import { Breakable } from "../words/Breakable";
import { sourceReadyOf } from "../words/conditions";
import { urlOf } from "../words/domains";
import { plural } from "../words/format";
import { phaseOf, phases } from "../words/phases";
import { placeOf, roleOf, sourceNames } from "../words/sources";
import { useWaiting } from "../words/waiting";
import { typeOf } from "../model/model";
import { Folded } from "../layout/Folded";
import { Link, paths } from "../router";
import { Conditions } from "./Conditions";
import { CopyButton } from "./CopyButton";
import { Figures } from "./Figures";
import { FirstImage } from "./FirstImage";
import { Pods } from "./Pods";
import { ProblemBox } from "./ProblemBox";
import { Progress } from "./Progress";
import { imageUrl } from "./snippets";
import { useUrls } from "./useUrls";

/** The image and a summary; conditions, pods and details are folded. */
export function Overview({ darkroom, access }: { darkroom: Darkroom; access: Access | undefined }) {
  /** Counts the checks that the user requested. */
  const [round, setRound] = useState(0);
  const { status } = darkroom;
  return (
    <div className="dr-stack">
      <ProblemBox darkroom={darkroom} access={access} onCheck={() => setRound(round + 1)} />
      <div className="dr-overview">
        <FirstImage darkroom={darkroom} access={access} round={round} />
        <div className="dr-stack">
          <Summary darkroom={darkroom} />
          {darkroom.gate && <Figures darkroom={darkroom} />}
          <Progress darkroom={darkroom} />
        </div>
      </div>
      <Folded title="Conditions">
        <Conditions conditions={status.conditions ?? []} />
      </Folded>
      <Folded title={`Pods: ${(status.pods ?? "0/0").replace("/", " of ")} ready`} isOpen={phaseOf(darkroom) !== "Ready" && status.replicas > 0}>
        <Pods darkroom={darkroom} mayReadLogs={access?.log !== false} />
      </Folded>
      <Folded title="Details">
        <Details darkroom={darkroom} />
      </Folded>
    </div>
  );
}

/** Phase, URL and source. */
function Summary({ darkroom }: { darkroom: Darkroom }) {
  const { source, additionalSources = [], status, probe } = darkroom;
  const waiting = useWaiting(darkroom);
  const check = sourceReadyOf(darkroom);
  const host = status.domains[0];
  const plain = host && imageUrl(urlOf(status, host), probe?.path ?? "", "");
  const { urlFor, problem } = useUrls(darkroom, probe?.path ?? "", [""]);
  // Without permission to sign, the plain URL is shown.
  const url = plain && (urlFor?.("") ?? plain);
  return (
    <dl className="dr-summary">
      <dt>Status</dt>
      <dd>
        {[waiting ? "Status from before the last change" : phases[phaseOf(darkroom)].name, plural(status.readyReplicas, "pod")].join(" · ")}
        {check?.status === "True" && (
          <>
            {" · served for "}
            <Age since={check.lastTransitionTime} />
          </>
        )}
      </dd>
      <dt>URL</dt>
      <dd>
        {url ? (
          <span className="dr-host">
            <code className="dr-break" aria-label="URL of the image">
              <a href={url} target="_blank" rel="noreferrer">
                <Breakable text={url} />
              </a>
            </code>
            <CopyButton text={url} label="Copy the URL" />
            <Link to={paths.explain(plain)}>Explain</Link>
            {problem && <span className="dr-quiet">Not signed: {problem.message}</span>}
          </span>
        ) : (
          <span className="dr-quiet">No host is routed yet</span>
        )}
      </dd>
      <dt>Source</dt>
      <dd className="dr-break">
        {sourceNames[typeOf(source)].name}
        <div className="dr-quiet">{placeOf(source) || "–"}</div>
        {additionalSources.map((other) => (
          <div key={other.name} className="dr-quiet">
            {other.name} ({roleOf(other)}): {placeOf(other) || "–"}
          </div>
        ))}
      </dd>
    </dl>
  );
}

function Details({ darkroom }: { darkroom: Darkroom }) {
  const { source, status, autoscaling } = darkroom;
  /** Entries without a value are omitted. */
  const entries: [string, ReactNode][] = [
    ["Namespace", darkroom.namespace],
    ["Endpoint", source.endpoint],
    ["Region", source.region],
    ["Credentials", credentialsOf(darkroom)],
    ["Version", status.version ?? darkroom.version ?? "–"],
    ["Container image", darkroom.image?.repository],
    ["Autoscaling", autoscaling && `${autoscaling.minReplicas ?? 1} to ${plural(autoscaling.maxReplicas, "pod")}`],
    ["Domains", <Domains key="domains" darkroom={darkroom} />],
    ["Cluster address", status.address ?? "–"],
    ["Created", <Age key="created" since={darkroom.createdAt} text={ago} />],
  ];
  return (
    <DescriptionList isHorizontal isCompact horizontalTermWidthModifier={{ default: "14ch" }}>
      {entries
        .filter(([, value]) => value !== undefined)
        .map(([term, value]) => (
          <DescriptionListGroup key={term}>
            <DescriptionListTerm>{term}</DescriptionListTerm>
            <DescriptionListDescription className="dr-break">{value}</DescriptionListDescription>
          </DescriptionListGroup>
        ))}
    </DescriptionList>
  );
}

function credentialsOf({ source: { credentials, credentialsSecretRef } }: Darkroom): string | undefined {
  return credentials && (credentials === "secretRef" ? `Secret ${credentialsSecretRef?.name ?? ""}` : "Inline, in the resource");
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
