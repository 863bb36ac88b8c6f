import { Toolbar, ToolbarContent, ToolbarFilter, ToolbarGroup, ToolbarItem } from "@patternfly/react-core";
import { memo } from "react";
import { sourceTypes } from "../api/types";
import { phaseNames } from "../words/phases";
import { describeReason } from "../words/reasons";
import { sourceNames } from "../words/sources";
import { FilterMenu, type Choice } from "./FilterMenu";
import { noFilters, type Query } from "./query";
import { Search } from "./Search";

/** Search and filters above the table. */
export const Filters = memo(function Filters({
  namespaces,
  reasons,
  query,
  onChange,
  found,
}: {
  namespaces: string[];
  /** Why Darkrooms are not ready, as CamelCase reasons. */
  reasons: string[];
  query: Query;
  onChange: (part: Partial<Query>) => void;
  found: number;
}) {
  const menus: { title: string; field: "phases" | "reasons" | "sources" | "namespaces"; choices: Choice[] }[] = [
    { title: "Phase", field: "phases", choices: phaseNames.map((value) => ({ value, text: value })) },
    { title: "Reason", field: "reasons", choices: reasons.map((value) => ({ value, text: describeReason(value) })) },
    { title: "Source", field: "sources", choices: sourceTypes.map((value) => ({ value, text: sourceNames[value].name })) },
    { title: "Namespace", field: "namespaces", choices: namespaces.map((value) => ({ value, text: value })) },
  ];
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
});
