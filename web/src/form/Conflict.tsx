import { ActionGroup, Button, Form, Radio } from "@patternfly/react-core";
import { Table, Tbody, Td, Th, Thead, Tr } from "@patternfly/react-table";
import { useState } from "react";
import { Alert } from "../patternfly/Alert";
import { submitKeys } from "../shortcuts/keys";
import { list } from "../words/format";
import { t } from "../words/t";
import { show } from "./merge";
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
      <Alert component="p" isInline variant="warning" title={t("Another user changed the same fields")} role="alert">
        {t("Nothing was saved. Choose a value for each field.")}
        {conflict.taken.length > 0 && ` ${t("Their other changes ({fields}) are included.", { fields: list(conflict.taken.map((path) => path.join("."))) })}`}
      </Alert>
      <Table aria-label={t("Conflicting fields")} gridBreakPoint="grid-md" variant="compact">
        <Thead>
          <Tr>
            <Th>{t("Field")}</Th>
            <Th>{t("Before{@value}")}</Th>
            <Th>{t("Theirs")}</Th>
            <Th>{t("Yours")}</Th>
          </Tr>
        </Thead>
        <Tbody>
          {conflict.clashes.map((clash, at) => {
            const name = clash.path.join(".");
            return (
              <Tr key={name}>
                <Td dataLabel={t("Field")}>
                  <strong>{name}</strong>
                </Td>
                <Td dataLabel={t("Before{@value}")} className="dr-break">
                  {show(clash.base)}
                </Td>
                {(["theirs", "mine"] as const).map((side) => (
                  <Td key={side} dataLabel={side === "theirs" ? t("Theirs") : t("Yours")}>
                    <Radio
                      id={`${name}-${side}`}
                      name={`clash-${name}`}
                      label={
                        <span className="dr-break">
                          <span className="pf-v6-screen-reader">{`${side === "theirs" ? t("{field}: theirs,", { field: name }) : t("{field}: yours,", { field: name })} `}</span>
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
        <Button type="submit" aria-keyshortcuts={submitKeys}>{t("Continue")}</Button>
        {onReload && (
          <Button variant="secondary" onClick={onReload}>
            {t("Discard my changes")}
          </Button>
        )}
        <Button variant="link" onClick={onCancel}>
          {t("Back to the form")}
        </Button>
      </ActionGroup>
    </Form>
  );
}
