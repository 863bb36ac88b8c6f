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
import type { Access, Darkroom } from "../api/types";
import { Age, ago } from "../words/AgeText";
import { urlOf } from "../words/domains";
import { placeOf, sourceNames } from "../words/sources";
import { typeOf } from "../model/model";
import { Conditions } from "./Conditions";
import { CopyButton } from "./CopyButton";
import { FirstImage } from "./FirstImage";
import { ImageCheck } from "./ImageCheck";
import { Pods } from "./Pods";
import { Progress } from "./Progress";

/** Progress, image, details, domains, conditions and pods. */
export function Overview({ darkroom, access }: { darkroom: Darkroom; access: Access | undefined }) {
  return (
    <Grid hasGutter>
      <GridItem lg={6} className="dr-stack">
        <Progress darkroom={darkroom} />
        <FirstImage darkroom={darkroom} access={access} />
        <Card id="card-details">
          <CardTitle component="h2">Details</CardTitle>
          <CardBody>
            <Details darkroom={darkroom} />
          </CardBody>
        </Card>
      </GridItem>
      <GridItem lg={6} className="dr-stack">
        <Card id="card-domains">
          <CardTitle component="h2">Domains</CardTitle>
          <CardBody>
            <Domains darkroom={darkroom} />
          </CardBody>
        </Card>
        <Card id="card-conditions">
          <CardTitle component="h2">Conditions</CardTitle>
          <CardBody>
            <Conditions conditions={darkroom.status.conditions ?? []} />
          </CardBody>
        </Card>
      </GridItem>
      <GridItem>
        <Pods darkroom={darkroom} mayReadLogs={access?.log !== false} />
      </GridItem>
    </Grid>
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
    ["Image check", <ImageCheck key="check" darkroom={darkroom} />],
    ["Version", status.version ?? darkroom.version ?? "–"],
    ...(image ? ([["Container image", image]] as [string, ReactNode][]) : []),
    [
      "Pods ready",
      autoscaling
        ? `${status.readyReplicas} of ${status.replicas} (autoscaling: ${autoscaling.minReplicas ?? 1} to ${autoscaling.maxReplicas})`
        : `${status.readyReplicas} of ${darkroom.replicas ?? 1}`,
    ],
    ["URL", status.url ? <OpenLink key="url" to={status.url} text={status.url} /> : "–"],
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
    return <p className="dr-quiet">No routed domains yet.</p>;
  }
  return (
    <List isPlain>
      {domains.map((host) => (
        <ListItem key={host}>
          <span className="dr-host">
            <OpenLink to={urlOf(darkroom.status, host)} text={host} />
            <CopyButton id={`copy-${host}`} text={host} label={`Copy ${host}`} />
          </span>
        </ListItem>
      ))}
    </List>
  );
}

/** A link that opens in a new tab. */
function OpenLink({ to, text }: { to: string; text: string }) {
  return (
    <a href={to} target="_blank" rel="noreferrer" className="dr-break">
      {text}
    </a>
  );
}
