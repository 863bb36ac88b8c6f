import {
  Card,
  CardBody,
  CardTitle,
  DescriptionList,
  DescriptionListDescription,
  DescriptionListGroup,
  DescriptionListTerm,
  Grid,
  GridItem,
  List,
  ListItem,
} from "@patternfly/react-core";
import type { ReactNode } from "react";
import type { Darkroom } from "../api/types";
import { useNow } from "../useNow";
import { age, atTime } from "../words/age";
import { urlOf } from "../words/domains";
import { placeOf, sourceNames, typeOf } from "../words/sources";
import { Conditions } from "./Conditions";
import { CopyButton } from "./CopyButton";
import { Pods } from "./Pods";

/** What it is, where it serves, how it fares, and its pods. */
export function Overview({ darkroom }: { darkroom: Darkroom }) {
  return (
    <Grid hasGutter>
      <GridItem lg={6}>
        <Card isFullHeight>
          <CardTitle component="h2">Details</CardTitle>
          <CardBody>
            <Details darkroom={darkroom} />
          </CardBody>
        </Card>
      </GridItem>
      <GridItem lg={6}>
        <Card isFullHeight>
          <CardTitle component="h2">Domains</CardTitle>
          <CardBody>
            <Domains darkroom={darkroom} />
          </CardBody>
          <CardTitle component="h2">Conditions</CardTitle>
          <CardBody>
            <Conditions conditions={darkroom.status.conditions ?? []} />
          </CardBody>
        </Card>
      </GridItem>
      <GridItem>
        <Pods darkroom={darkroom} />
      </GridItem>
    </Grid>
  );
}

function Details({ darkroom }: { darkroom: Darkroom }) {
  const now = useNow();
  const { source, status, autoscaling } = darkroom;
  const image = darkroom.image?.repository;
  const entries: [string, ReactNode][] = [
    ["Namespace", darkroom.namespace],
    ["Source", sourceNames[typeOf(source)].name],
    ["Pictures from", placeOf(source) || "–"],
    ...(source.endpoint ? ([["Endpoint", source.endpoint]] as [string, ReactNode][]) : []),
    ...(source.region ? ([["Region", source.region]] as [string, ReactNode][]) : []),
    ...(source.credentials ? ([["Credentials", credentialsOf(darkroom)]] as [string, ReactNode][]) : []),
    ["Version", status.version ?? darkroom.version ?? "–"],
    ...(image ? ([["Image", image]] as [string, ReactNode][]) : []),
    [
      "Pods ready",
      autoscaling
        ? `${status.readyReplicas} of ${status.replicas} (automatic: ${autoscaling.minReplicas ?? 1} to ${autoscaling.maxReplicas})`
        : `${status.readyReplicas} of ${darkroom.replicas ?? 1}`,
    ],
    ["Within the cluster", status.address ?? "–"],
    [
      "Created",
      <time key="created" dateTime={darkroom.createdAt} title={atTime(darkroom.createdAt)}>
        {age(darkroom.createdAt, now)} ago
      </time>,
    ],
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
  return source.credentials === "secretRef" ? `Secret ${source.credentialsSecretRef?.name ?? ""}` : "in the resource itself";
}

function Domains({ darkroom }: { darkroom: Darkroom }) {
  const { domains } = darkroom.status;
  if (domains.length === 0) {
    return <p className="dr-quiet">None is routed yet.</p>;
  }
  return (
    <List isPlain>
      {domains.map((host) => (
        <ListItem key={host}>
          <span className="dr-host">
            <a href={urlOf(darkroom, host)} target="_blank" rel="noreferrer" className="dr-break">
              {host}
            </a>
            <CopyButton id={`copy-${host}`} text={host} label={`Copy ${host}`} />
          </span>
        </ListItem>
      ))}
    </List>
  );
}
