import { Pagination as PlainPagination, PaginationVariant, type PaginationProps } from "@patternfly/react-core";
import { rich, t } from "../words/t";

type Props = Required<Pick<PaginationProps, "itemCount" | "page" | "perPage" | "onSetPage">> &
  Pick<PaginationProps, "onPerPageSelect"> & {
    /** How many items can be shown per page; empty if that is fixed. */
    choices: readonly number[];
  };

/** PatternFly's pagination below a table, in the language of the page. */
export const Pagination = ({ choices, ...rest }: Props) => (
  <PlainPagination
    {...rest}
    variant={PaginationVariant.bottom}
    perPageOptions={choices.map((n) => ({ title: t("{n} per page", { n }), value: n }))}
    toggleTemplate={({ firstIndex = 0, lastIndex = 0, itemCount = 0 }) => (
      <>{rich("<b>{first} - {last}</b> of <b>{all}</b>", { first: firstIndex, last: lastIndex, all: itemCount })}</>
    )}
    titles={{
      items: "",
      page: "",
      pages: "",
      perPageSuffix: "",
      ofWord: t("of"),
      toFirstPageAriaLabel: t("Go to first page"),
      toPreviousPageAriaLabel: t("Go to previous page"),
      toNextPageAriaLabel: t("Go to next page"),
      toLastPageAriaLabel: t("Go to last page"),
      currPageAriaLabel: t("Current page"),
      paginationAriaLabel: t("Pagination"),
    }}
  />
);
