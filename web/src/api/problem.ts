import type { FieldProblem, ProblemBody } from "./types";

/** Problem is an error as the API tells it, after RFC 9457; status 0 means no answer came. */
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

/** What the server said, if it said it as a problem; else what the status means. */
export async function problemOf(response: Response): Promise<Problem> {
  try {
    const body = (await response.json()) as Partial<ProblemBody>;
    if (typeof body.detail === "string") {
      return new Problem(response.status, body.title ?? response.statusText, body.detail, body.errors ?? []);
    }
  } catch {
    // Something in between answered, such as a proxy.
  }
  return new Problem(response.status, response.statusText || "Error", `the server answered ${response.status}`);
}

/** Whatever was thrown, as a problem. */
export function asProblem(thrown: unknown): Problem {
  if (thrown instanceof Problem) {
    return thrown;
  }
  return new Problem(0, "No connection", "the server cannot be reached: try again");
}

export const isAborted = (thrown: unknown): boolean => thrown instanceof DOMException && thrown.name === "AbortError";
