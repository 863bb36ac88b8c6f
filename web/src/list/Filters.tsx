import { Badge, Button, Label, MenuToggle } from "@patternfly/react-core";
import { memo, useState } from "react";
import { useStore } from "../live/useLive";
import { plural } from "../words/format";
import { Sort } from "./DarkroomTable";
import { describeValue, facets, menuNames, type FacetName } from "./facets";
import { FilterMenu, type Choice } from "./FilterMenu";
import { countBy, noFilters, type Query } from "./query";
import { Search } from "./Search";

interface Props {
  query: Query;
  onChange: (part: Partial<Query>) => void;
  found: number;
}

/** Search and filters above the table. */
export const Filters = memo(function Filters({ query, onChange, found }: Props) {
  const store = useStore();
  const choicesOf = (name: FacetName): Choice[] => {
    const counts = countBy(name, store.read().darkrooms, query);
    const values = facets[name].all ?? [...new Set([...counts.keys(), ...query[name]])].sort();
    return values.map((value) => ({ value, text: describeValue(name, value), count: counts.get(value) ?? 0 }));
  };
  /** Whether the menus are open on a phone. */
  const [open, setOpen] = useState(false);
  const chosen = menuNames.flatMap((name) => query[name].map((value) => ({ name, value })));
  return (
    <div className="dr-stack dr-filters">
      <div className="dr-row">
        <Search
          label="Search by name, source, version, domain or reason"
          placeholder="Name, source, version, domain"
          value={query.search}
          onChange={(search) => onChange({ search })}
        />
        <MenuToggle className="dr-filter" isExpanded={open} onClick={() => setOpen(!open)} badge={chosen.length > 0 ? <Badge isRead>{chosen.length}</Badge> : undefined}>
          Filter
        </MenuToggle>
        <div className={open ? "dr-row dr-menus dr-menus--open" : "dr-row dr-menus"}>
          {menuNames.map((name) => (
            <FilterMenu key={name} title={facets[name].title} choicesOf={() => choicesOf(name)} chosen={query[name]} onChange={(chosen) => onChange({ [name]: chosen })} />
          ))}
          <div className="dr-sort">
            <Sort query={query} onChange={onChange} />
          </div>
        </div>
        <div className="dr-row dr-found">
          <span role="status">{plural(found, "Darkroom")}</span>
        </div>
      </div>
      {chosen.length > 0 && (
        <div className="dr-row" role="group" aria-label="Filters">
          {chosen.map(({ name, value }) => (
            <Label key={`${name} ${value}`} variant="outline" onClose={() => onChange({ [name]: query[name].filter((other) => other !== value) })} closeBtnAriaLabel={`Remove the filter ${describeValue(name, value)}`}>
              {facets[name].title}: {describeValue(name, value)}
            </Label>
          ))}
          <Button variant="link" isInline onClick={() => onChange(noFilters)}>
            Clear all filters
          </Button>
        </div>
      )}
    </div>
  );
});
