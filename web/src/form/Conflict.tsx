import { ActionGroup, Alert, Button, Form, Radio } from "@patternfly/react-core";
import { useState } from "react";
import { DataTable } from "../layout/DataTable";
import { list } from "../words/format";
import { show } from "../model/merge";
import type { Choice, ConflictState } from "./useSaving";

/** Both sides of conflicting edits; each field is resolved separately. */
export function Conflict({
  conflict,
  onResolve,
  onReload,
  onCancel,
}: {
  conflict: ConflictState;
  onResolve: (choices: Choice[]) => void;
  onReload?: () => void;
  onCancel: () => void;
}) {
  const [choices, setChoices] = useState<Choice[]>(() => conflict.clashes.map(() => "mine"));
  return (
    <Form
      onSubmit={(event) => {
        event.preventDefault();
        onResolve(choices);
      }}
    >
      <Alert component="p" isInline variant="warning" title="Another user changed the same fields" role="alert">
        Nothing was saved. Choose a value for each field.
        {conflict.taken.length > 0 && ` Their other changes (${list(conflict.taken.map((path) => path.join(".")))}) are included.`}
      </Alert>
      <DataTable
        label="Conflicting fields"
        columns={{ Field: {}, Before: { breaks: true }, Theirs: {}, Yours: {} }}
        rows={conflict.clashes.map((clash, at) => {
          const name = clash.path.join(".");
          const side = (choice: Choice, word: string) => (
            <Radio
              id={`${name}-${choice}`}
              name={`clash-${name}`}
              label={
                <span className="dr-break">
                  <span className="pf-v6-screen-reader">{`${name}: ${word}, `}</span>
                  {show(clash[choice])}
                </span>
              }
              isChecked={choices[at] === choice}
              onChange={() => setChoices(choices.with(at, choice))}
            />
          );
          return { key: name, cells: [<strong>{name}</strong>, show(clash.base), side("theirs", "theirs"), side("mine", "yours")] };
        })}
      />
      <ActionGroup className="dr-actions">
        <Button type="submit">Continue</Button>
        {onReload && (
          <Button variant="secondary" onClick={onReload}>
            Discard my changes
          </Button>
        )}
        <Button variant="link" onClick={onCancel}>
          Back to the form
        </Button>
      </ActionGroup>
    </Form>
  );
}
