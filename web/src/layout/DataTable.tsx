import { Table, Tbody, Td, Th, Thead, Tr, type ThProps } from "@patternfly/react-table";
import type { ReactNode } from "react";

interface Column {
  width?: ThProps["width"];
  /** Whether long words break. */
  breaks?: boolean;
  /** Whether the title is for screen readers only. */
  isUntitled?: boolean;
}

interface Row {
  key: string;
  /** The content of each column. */
  cells: readonly ReactNode[];
}

/** A table. On a phone, each row is a card, and each cell shows the title of its column. */
export function DataTable({ label, columns, rows }: { label: string; columns: Record<string, Column>; rows: readonly Row[] }) {
  const heads = Object.entries(columns);
  return (
    <Table aria-label={label} variant="compact" gridBreakPoint="grid-md">
      <Thead>
        <Tr>
          {heads.map(([title, { width, isUntitled }]) => (
            <Th key={title} width={width} modifier="nowrap" {...(isUntitled ? { screenReaderText: title } : { children: title })} />
          ))}
        </Tr>
      </Thead>
      <Tbody>
        {rows.map(({ key, cells }) => (
          <Tr key={key}>
            {heads.map(([title, { breaks, isUntitled }], at) => (
              <Td key={title} dataLabel={isUntitled ? undefined : title} className={breaks ? "dr-break" : undefined}>
                {cells[at]}
              </Td>
            ))}
          </Tr>
        ))}
      </Tbody>
    </Table>
  );
}
