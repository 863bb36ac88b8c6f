import type { components } from "./schema";

type Schemas = components["schemas"];

export type Access = Schemas["Access"];
export type Condition = Schemas["Condition"];
export type Darkroom = Schemas["Darkroom"];
export type DarkroomInput = Schemas["DarkroomInput"];
export type DarkroomPatch = Schemas["DarkroomPatch"];
export type DarkroomEvent = Schemas["Event"];
export type FieldProblem = Schemas["FieldProblem"];
export type Namespaces = Schemas["Namespaces"];
export type Explanation = Schemas["Explanation"];
export type Figures = Schemas["Figures"];
export type Hop = Schemas["Hop"];
export type GateFigures = Schemas["GateFigures"];
export type NewSecret = Schemas["NewSecret"];
export type Outcome = Schemas["Outcome"];
export type Pod = Schemas["Pod"];
export type Probe = Schemas["Probe"];
export type ProblemBody = Schemas["Problem"];
export type Question = Schemas["Question"];
export type Review = Schemas["Review"];
export type Revision = Schemas["Revision"];
export type Secret = Schemas["Secret"];
export type ServerSettings = Schemas["ServerSettings"];
export type SignedURL = Schemas["SignedURL"];
export type Source = Schemas["Source"];
export type SourceInput = Schemas["SourceInput"];
export type Status = Schemas["Status"];
export type WaysToSignIn = Schemas["WaysToSignIn"];
export type Who = Schemas["Who"];

export const sourceTypes = ["WebFolder", "S3", "GoogleCloudStorage", "CloudFront"] as const;
export type SourceType = (typeof sourceTypes)[number];

/** Namespace and name of a Darkroom. */
export interface Key {
  namespace: string;
  name: string;
}

export const keyOf = ({ namespace, name }: Key): string => `${namespace}/${name}`;
