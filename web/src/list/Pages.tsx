import { Pagination } from "@patternfly/react-core";
import { memo } from "react";
import type { Query } from "./query";

interface Props {
  query: Query;
  /** The current page; the page in the query may be past the end. */
  page: number;
  found: number;
  onChange: (part: Partial<Query>) => void;
}

/** Pagination, for lists that need it. */
export default memo(function Pages({ query, page, found, onChange }: Props) {
  return (
    <Pagination
      itemCount={found}
      page={page}
      perPage={query.perPage}
      variant="bottom"
      isStatic
      perPageOptions={[20, 50, 100].map((n) => ({ title: String(n), value: n }))}
      onSetPage={(_, page) => onChange({ page })}
      onPerPageSelect={(_, perPage) => onChange({ perPage })}
    />
  );
});
