import { Pagination, PaginationVariant } from "@patternfly/react-core";
import type { Query } from "./query";

/** Leafs through long lists; short ones need no control. */
export function Pages({ query, found, onChange }: { query: Query; found: number; onChange: (part: Partial<Query>) => void }) {
  if (found <= 20) {
    return null;
  }
  return (
    <Pagination
      variant={PaginationVariant.bottom}
      itemCount={found}
      page={query.page}
      perPage={query.perPage}
      perPageOptions={[20, 50, 100, 500].map((value) => ({ title: String(value), value }))}
      onSetPage={(_, page) => onChange({ page })}
      onPerPageSelect={(_, perPage) => onChange({ perPage })}
    />
  );
}
