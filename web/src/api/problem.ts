import { sentence } from "../words/format";
import type { FieldProblem, ProblemBody } from "./types";

/** An error of the API (RFC 9457). Status 0 means that there was no response. */
export class Problem extends Error {
  readonly status: number;
  readonly title: string;
  readonly errors: FieldProblem[];

  constructor(status: number, title: string, detail: string, errors: FieldProblem[] = []) {
    super(detail);
    this.name = "Problem";
    this.status = status;
    this.title = title;
    this.errors = errors;
  }
}

/** The problem in a response; other bodies are reduced to their status. */
export async function problemOf(response: Response): Promise<Problem> {
  try {
    const body = (await response.json()) as Partial<ProblemBody>;
    if (typeof body.detail === "string") {
      return new Problem(response.status, body.title ?? response.statusText, sentence(body.detail), body.errors ?? []);
    }
  } catch {
    // Not from the API, but for example from a proxy.
  }
  return new Problem(response.status, response.statusText || "Error", `The server responded with status ${response.status}.`);
}

/** Converts anything thrown to a problem. */
export const asProblem = (thrown: unknown): Problem => (thrown instanceof Problem ? thrown : unreachable());

export const unreachable = (): Problem => new Problem(0, "No connection", "The server cannot be reached. Check your connection and try again.");

export const isAborted = (thrown: unknown): boolean => thrown instanceof DOMException && thrown.name === "AbortError";
