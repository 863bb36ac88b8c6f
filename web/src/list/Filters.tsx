import { Toolbar, ToolbarContent, ToolbarGroup, ToolbarItem } from "@patternfly/react-core";
import { memo } from "react";
import type { BulkAction } from "../actions/actions";
import { BulkMenu } from "../actions/BulkMenu";
import { useStore } from "../live/useLive";
import { useRights } from "../useNamespaces";
import { counted } from "../words/counted";
import { Sort } from "./DarkroomTable";
import { ChosenFilters } from "./ChosenFilters";
import { describeValue, facets, menuNames, type FacetName } from "./facets";
import { FilterMenu, type Choice } from "./FilterMenu";
import { countBy, type Query } from "./query";
import { Search } from "./Search";

interface Props {
  query: Query;
  onChange: (part: Partial<Query>) => void;
  found: number;
  /** Performs an action on all that were found. */
  onAct: (action: BulkAction) => void;
}

/** Search, filters and actions above the table. */
export const Filters = memo(function Filters({ query, onChange, found, onAct }: Props) {
  const store = useStore();
  const mayAct = (useRights()?.update.length ?? 0) > 0;
  const choicesOf = (name: FacetName): Choice[] => {
    const counts = countBy(name, store.read().darkrooms, query);
    const values = facets[name].all ?? [...new Set([...counts.keys(), ...query[name]])].sort();
    return values.map((value) => ({ value, text: describeValue(name, value), count: counts.get(value) ?? 0 }));
  };
  return (
    <Toolbar className="dr-filters">
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
          {menuNames.map((name) => (
            <ToolbarItem key={name}>
              <FilterMenu
                title={facets[name].title}
                choicesOf={() => choicesOf(name)}
                chosen={query[name]}
                onChange={(chosen) => onChange({ [name]: chosen })}
              />
            </ToolbarItem>
          ))}
        </ToolbarGroup>
        <ToolbarItem className="dr-sort">
          <Sort query={query} onChange={onChange} />
        </ToolbarItem>
        <ToolbarItem align={{ default: "alignEnd" }} className="dr-found">
          <span role="status">{counted(found)}</span>
        </ToolbarItem>
        {mayAct && (
          <ToolbarItem>
            <BulkMenu count={found} onAct={onAct} />
          </ToolbarItem>
        )}
      </ToolbarContent>
      <ChosenFilters query={query} onChange={onChange} />
    </Toolbar>
  );
});
