import { Alert, Button, List, ListItem } from "@patternfly/react-core";
import { useEffect, useRef } from "react";
import type { Problem } from "../api/problem";
import type { DarkroomInput } from "../api/types";
import { Link, paths } from "../router";
import { idOf } from "./fields";
import type { FieldError } from "./validate";

/** What keeps a Darkroom from being saved, on top of the form; each entry leads to its field. */
export function ErrorSummary({
  problem,
  errors,
  isNew,
  input,
}: {
  problem: Problem | undefined;
  errors: readonly FieldError[];
  isNew: boolean;
  input: DarkroomInput;
}) {
  const summary = useRef<HTMLDivElement>(null);
  // What the server says comes while one looks at the end of the form.
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
      <Alert component="p" isInline variant="danger" title={titleOf(problem, errors)} role="alert" className="dr-break">
        {errors.length === 0 && <p>{problem?.message}</p>}
        {taken && (
          <p>
            <Link to={paths.detail({ namespace: input.namespace ?? "default", name: input.name ?? "" })}>See the one that there is</Link>
          </p>
        )}
        {errors.length > 0 && (
          <List isPlain>
            {errors.map(({ location, message }) => (
              <ListItem key={location + message}>
                {location && (
                  <>
                    <Button variant="link" isInline onClick={() => document.getElementById(idOf(location))?.focus()}>
                      {location}
                    </Button>
                    {": "}
                  </>
                )}
                {message}
              </ListItem>
            ))}
          </List>
        )}
      </Alert>
    </div>
  );
}

function titleOf(problem: Problem | undefined, errors: readonly FieldError[]): string {
  if (errors.length > 0) {
    return errors.length === 1 ? "One field needs a change" : `${errors.length} fields need a change`;
  }
  switch (problem?.status) {
    case 403:
      return "You may not do this";
    case 404:
      return "It is no longer there";
    case 409:
      return "There is one of that name";
    default:
      return "It could not be saved";
  }
}
