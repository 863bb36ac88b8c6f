import { Toolbar, ToolbarContent, ToolbarFilter, ToolbarGroup, ToolbarItem } from "@patternfly/react-core";
import { memo } from "react";
import type { ActionName } from "../actions/actions";
import { BulkMenu } from "../actions/BulkMenu";
import { useStore } from "../live/useLive";
import { counted } from "../words/counted";
import { facetNames, facets, type FacetName } from "./facets";
import { FilterMenu, type Choice } from "./FilterMenu";
import { countBy, noFilters, type Query } from "./query";
import { Search } from "./Search";

const describe = (name: FacetName, value: string): string => facets[name].describe?.(value) ?? value;

interface Props {
  query: Query;
  onChange: (part: Partial<Query>) => void;
  found: number;
  /** Performs an action on all that were found. */
  onAct: (action: ActionName) => void;
}

/** Search, filters and actions above the table. */
export const Filters = memo(function Filters({ query, onChange, found, onAct }: Props) {
  const store = useStore();
  const choicesOf = (name: FacetName): Choice[] => {
    const counts = countBy(name, store.read().darkrooms, query);
    const values = facets[name].all ?? [...new Set([...counts.keys(), ...query[name]])].sort();
    return values.map((value) => ({ value, text: describe(name, value), count: counts.get(value) ?? 0 }));
  };
  return (
    <Toolbar
      clearAllFilters={() => onChange(noFilters)}
      clearFiltersButtonText="Clear all filters"
      className="dr-filters"
    >
      <ToolbarContent>
        <ToolbarItem>
          <Search
            label="Search by name, source, version, domain or reason"
            placeholder="Name, source, version, domain"
            value={query.search}
            onChange={(search) => onChange({ search })}
          />
        </ToolbarItem>
        <ToolbarGroup variant="filter-group">
          {facetNames.map((name) => (
            <ToolbarFilter
              key={name}
              categoryName={facets[name].title}
              labels={query[name].map((value) => ({ key: value, node: describe(name, value) }))}
              deleteLabel={(_, label) => onChange({ [name]: query[name].filter((value) => value !== (typeof label === "string" ? label : label.key)) })}
              deleteLabelGroup={() => onChange({ [name]: [] })}
            >
              <FilterMenu
                title={facets[name].title}
                choicesOf={() => choicesOf(name)}
                chosen={query[name]}
                onChange={(chosen) => onChange({ [name]: chosen })}
              />
            </ToolbarFilter>
          ))}
        </ToolbarGroup>
        <ToolbarItem align={{ default: "alignEnd" }} className="dr-found">
          <span role="status">{counted(found)}</span>
        </ToolbarItem>
        <ToolbarItem>
          <BulkMenu count={found} onAct={onAct} />
        </ToolbarItem>
      </ToolbarContent>
    </Toolbar>
  );
});
