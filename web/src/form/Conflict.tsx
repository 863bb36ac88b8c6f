import { ActionGroup, Alert, Button, Form, Radio } from "@patternfly/react-core";
import { Table, Tbody, Td, Th, Thead, Tr } from "@patternfly/react-table";
import { useState } from "react";
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
  const choose = (at: number, choice: Choice) => setChoices(choices.map((old, i) => (i === at ? choice : old)));
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
      <Table aria-label="Conflicting fields" gridBreakPoint="grid-md" variant="compact">
        <Thead>
          <Tr>
            <Th>Field</Th>
            <Th>Before</Th>
            <Th>Theirs</Th>
            <Th>Yours</Th>
          </Tr>
        </Thead>
        <Tbody>
          {conflict.clashes.map((clash, at) => {
            const name = clash.path.join(".");
            return (
              <Tr key={name}>
                <Td dataLabel="Field">
                  <strong>{name}</strong>
                </Td>
                <Td dataLabel="Before" className="dr-break">
                  {show(clash.base)}
                </Td>
                {(["theirs", "mine"] as const).map((side) => (
                  <Td key={side} dataLabel={side === "theirs" ? "Theirs" : "Yours"}>
                    <Radio
                      id={`${name}-${side}`}
                      name={`clash-${name}`}
                      label={
                        <span className="dr-break">
                          <span className="pf-v6-screen-reader">{`${side === "theirs" ? `${name}: theirs,` : `${name}: yours,`} `}</span>
                          {show(clash[side])}
                        </span>
                      }
                      isChecked={choices[at] === side}
                      onChange={() => choose(at, side)}
                    />
                  </Td>
                ))}
              </Tr>
            );
          })}
        </Tbody>
      </Table>
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
