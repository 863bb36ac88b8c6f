import { Alert, Button, List, ListItem } from "@patternfly/react-core";
import { useEffect, useRef } from "react";
import type { Problem } from "../api/problem";
import type { DarkroomInput } from "../api/types";
import { Link, paths } from "../router";
import type { FieldError } from "./validate";
import { plural, sentence } from "../words/format";

/** Why a Darkroom cannot be saved, above the form; each entry links to its field. */
export function ErrorSummary({
  problem,
  errors,
  isNew,
  input,
  onGoTo,
}: {
  problem: Problem | undefined;
  errors: readonly FieldError[];
  isNew: boolean;
  input: DarkroomInput;
  /** Shows the field of a location, and moves the focus there. */
  onGoTo: (location: string) => void;
}) {
  const summary = useRef<HTMLDivElement>(null);
  // The user is at the end of the form when the response arrives.
  useEffect(() => {
    if (problem) {
      summary.current?.focus();
    }
  }, [problem]);
  if (!problem && errors.length === 0) {
    return null;
  }
  const taken = isNew && problem?.status === 409;
  return (
    <div ref={summary} tabIndex={-1} className="dr-heading">
      <Alert component="p" isInline variant="danger" title={titleOf(problem, errors, isNew)} role="alert" className="dr-break">
        {errors.length === 0 && <p>{problem?.message}</p>}
        {taken && (
          <p>
            <Link to={paths.detail({ namespace: input.namespace ?? "default", name: input.name ?? "" })}>Open the existing Darkroom</Link>
          </p>
        )}
        {errors.length > 0 && (
          <List isPlain>
            {errors.map(({ location, message }) => (
              <ListItem key={location + message}>
                {location && (
                  <>
                    <Button variant="link" isInline onClick={() => onGoTo(location)}>
                      {location}
                    </Button>
                    {": "}
                  </>
                )}
                {location ? message : sentence(message)}
              </ListItem>
            ))}
          </List>
        )}
      </Alert>
    </div>
  );
}

function titleOf(problem: Problem | undefined, errors: readonly FieldError[], isNew: boolean): string {
  if (errors.length > 0) {
    return plural(errors.length, "field is invalid", "fields are invalid");
  }
  switch (problem?.status) {
    case 403:
      return "Permission denied";
    case 404:
      return isNew ? "Namespace not found" : "The Darkroom no longer exists";
    case 409:
      return isNew ? "The name is already in use" : "The Darkroom was replaced";
    default:
      return "Request failed";
  }
}
