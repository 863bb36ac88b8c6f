import { SearchInput, Toolbar, ToolbarContent, ToolbarFilter, ToolbarGroup, ToolbarItem } from "@patternfly/react-core";
import { useMemo } from "react";
import { sourceTypes, type Darkroom } from "../api/types";
import { phaseNames } from "../words/phases";
import { sourceNames } from "../words/sources";
import { FilterMenu, type Choice } from "./FilterMenu";
import type { Query } from "./query";

/** Search and filters above the table. */
export function Filters({
  darkrooms,
  query,
  onChange,
  found,
}: {
  darkrooms: readonly Darkroom[];
  query: Query;
  onChange: (part: Partial<Query>) => void;
  found: number;
}) {
  const namespaces = useMemo(() => [...new Set([...darkrooms.map((d) => d.namespace), ...query.namespaces])].sort(), [darkrooms, query]);
  const menus: { title: string; field: "phases" | "sources" | "namespaces"; choices: Choice[] }[] = [
    { title: "Phase", field: "phases", choices: phaseNames.map((value) => ({ value, text: value })) },
    { title: "Source", field: "sources", choices: sourceTypes.map((value) => ({ value, text: sourceNames[value].name })) },
    { title: "Namespace", field: "namespaces", choices: namespaces.map((value) => ({ value, text: value })) },
  ];
  return (
    <Toolbar
      clearAllFilters={() => onChange({ search: "", phases: [], sources: [], namespaces: [] })}
      clearFiltersButtonText="Clear all filters"
      className="dr-filters"
    >
      <ToolbarContent>
        <ToolbarItem>
          <SearchInput
            aria-label="Search by name, source, version or domain"
            placeholder="Name, source, version, domain"
            value={query.search}
            onChange={(_, value) => onChange({ search: value })}
            onClear={() => onChange({ search: "" })}
          />
        </ToolbarItem>
        <ToolbarGroup variant="filter-group">
          {menus.map(({ title, field, choices }) => (
            <ToolbarFilter
              key={field}
              categoryName={title}
              labels={query[field].map((value) => ({ key: value, node: choices.find((c) => c.value === value)?.text ?? value }))}
              deleteLabel={(_, label) => onChange({ [field]: query[field].filter((value) => value !== (typeof label === "string" ? label : label.key)) })}
              deleteLabelGroup={() => onChange({ [field]: [] })}
            >
              <FilterMenu title={title} choices={choices} chosen={query[field]} onChange={(chosen) => onChange({ [field]: chosen })} />
            </ToolbarFilter>
          ))}
        </ToolbarGroup>
        <ToolbarItem align={{ default: "alignEnd" }} className="dr-found">
          <span role="status">{found === 1 ? "1 Darkroom" : `${found} Darkrooms`}</span>
        </ToolbarItem>
      </ToolbarContent>
    </Toolbar>
  );
}
