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
import { placeOf, sourceNames, typeOf } from "../words/sources";
import { t } from "../words/t";
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
          <CardTitle component="h2">{t("Details")}</CardTitle>
          <CardBody>
            <Details darkroom={darkroom} />
          </CardBody>
        </Card>
      </GridItem>
      <GridItem lg={6} className="dr-stack">
        <Card id="card-domains">
          <CardTitle component="h2">{t("Domains")}</CardTitle>
          <CardBody>
            <Domains darkroom={darkroom} />
          </CardBody>
        </Card>
        <Card id="card-conditions">
          <CardTitle component="h2">{t("Conditions")}</CardTitle>
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
    [t("Namespace"), darkroom.namespace],
    [t("Source"), t(sourceNames[typeOf(source)].name)],
    [t("Images from"), placeOf(source) || "–"],
    ...(source.endpoint ? ([[t("Endpoint"), source.endpoint]] as [string, ReactNode][]) : []),
    ...(source.region ? ([[t("Region"), source.region]] as [string, ReactNode][]) : []),
    ...(source.credentials ? ([[t("Credentials"), credentialsOf(darkroom)]] as [string, ReactNode][]) : []),
    [t("Image check"), <ImageCheck key="check" darkroom={darkroom} />],
    [t("Version"), status.version ?? darkroom.version ?? "–"],
    ...(image ? ([[t("Container image"), image]] as [string, ReactNode][]) : []),
    [
      t("Pods ready"),
      autoscaling
        ? t("{ready} of {all} (autoscaling: {least} to {most})", {
            ready: status.readyReplicas,
            all: status.replicas,
            least: autoscaling.minReplicas ?? 1,
            most: autoscaling.maxReplicas,
          })
        : t("{ready} of {all}", { ready: status.readyReplicas, all: darkroom.replicas ?? 1 }),
    ],
    [t("URL"), status.url ? <OpenLink key="url" to={status.url} text={status.url} /> : "–"],
    [t("Cluster address"), status.address ?? "–"],
    [t("Created"), <Age key="created" since={darkroom.createdAt} text={ago} />],
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
  return source.credentials === "secretRef" ? t("Secret {name}", { name: source.credentialsSecretRef?.name ?? "" }) : t("Inline, in the resource");
}

function Domains({ darkroom }: { darkroom: Darkroom }) {
  const { domains } = darkroom.status;
  if (domains.length === 0) {
    return <p className="dr-quiet">{t("No routed domains yet.")}</p>;
  }
  return (
    <List isPlain>
      {domains.map((host) => (
        <ListItem key={host}>
          <span className="dr-host">
            <OpenLink to={urlOf(darkroom.status, host)} text={host} />
            <CopyButton id={`copy-${host}`} text={host} label={t("Copy {text}", { text: host })} />
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
