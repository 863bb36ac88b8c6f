import { Button, ToggleGroup, ToggleGroupItem, Toolbar, ToolbarContent, ToolbarFilter, ToolbarGroup, ToolbarItem } from "@patternfly/react-core";
import { memo } from "react";
import type { BulkAction } from "../actions/actions";
import { BulkMenu } from "../actions/BulkMenu";
import { useStore } from "../live/useLive";
import { counted } from "../words/counted";
import { Sort } from "./DarkroomTable";
import { describeValue, facets, menuNames, type FacetName } from "./facets";
import { FilterMenu, type Choice } from "./FilterMenu";
import { countBy, noFilters, type Query } from "./query";
import { Search } from "./Search";

interface Props {
  query: Query;
  onChange: (part: Partial<Query>) => void;
  found: number;
  ticked: number;
  /** Performs an action on those that are ticked; undefined if the user may not. */
  onAct: ((action: BulkAction) => void) | undefined;
  onTickAll: () => void;
}

/** Search, filters and actions above the table. */
export const Filters = memo(function Filters({ query, onChange, found, ticked, onAct, onTickAll }: Props) {
  const store = useStore();
  const choicesOf = (name: FacetName): Choice[] => {
    const counts = countBy(name, store.read().darkrooms, query);
    const values = facets[name].all ?? [...new Set([...counts.keys(), ...query[name]])].sort();
    return values.map((value) => ({ value, text: describeValue(name, value), count: counts.get(value) ?? 0 }));
  };
  return (
    <Toolbar className="dr-filters" clearAllFilters={() => onChange(noFilters)} clearFiltersButtonText="Clear all filters" collapseListedFiltersBreakpoint="md">
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
            <ToolbarFilter
              key={name}
              categoryName={facets[name].title}
              labels={query[name].map((value) => ({ key: value, node: describeValue(name, value) }))}
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
        <ToolbarItem className="dr-sort">
          <Sort query={query} onChange={onChange} />
        </ToolbarItem>
        <ToolbarItem align={{ default: "alignEnd" }} className="dr-found">
          {ticked > 0 && ticked < found && (
            <Button variant="link" size="sm" onClick={onTickAll}>
              Tick all {found}
            </Button>
          )}
          <span role="status">{ticked > 0 ? `${ticked} of ${counted(found)} ticked` : counted(found)}</span>
        </ToolbarItem>
        <ToolbarItem className="dr-found">
          <ToggleGroup aria-label="Rows">
            <ToggleGroupItem text="Dense" isSelected={query.dense} onChange={() => onChange({ dense: !query.dense })} />
          </ToggleGroup>
        </ToolbarItem>
        {onAct && (
          <ToolbarItem>
            <BulkMenu count={ticked} onAct={onAct} />
          </ToolbarItem>
        )}
      </ToolbarContent>
    </Toolbar>
  );
});
