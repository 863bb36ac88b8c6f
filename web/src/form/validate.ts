import type { Darkroom, DarkroomInput, FieldProblem } from "../api/types";
import { movesKeys } from "../model/model";
import { sentence } from "../words/format";

/** An error and its location, such as source.bucket or subDomains.0. */
export interface FieldError {
  location: string;
  message: string;
}

/** Errors that a dry run does not find: the server drops keys that would be sent to another endpoint, so they must be entered again. */
export const validate = (input: DarkroomInput, loaded?: Darkroom): FieldError[] =>
  movesKeys(input, loaded)
    ? [{ location: "source.accessKey", message: "Enter the keys again: the endpoint has changed, and the current keys would be sent to it" }]
    : [];

/** Errors of the server, at the locations of the form: body.subDomains[0] is subDomains.0. */
export const fromServer = (errors: readonly FieldProblem[]): FieldError[] =>
  errors.map(({ location = "", message }) => ({ location: location.replace(/^body\.?/, "").replace(/\[(\w+)\]/g, ".$1"), message: plain(message) }));

/** Removes the prefixes of Kubernetes. */
const plain = (message: string): string => message.replace(/^(Invalid value|Required value|Unsupported value|Duplicate value|Not found): /, "");

/** The messages of a field and of the fields within it, as sentences. */
export const messagesAt = (errors: readonly FieldError[], location: string): string[] =>
  errors.filter((error) => error.location === location || error.location.startsWith(location + ".")).map((error) => sentence(error.message));
