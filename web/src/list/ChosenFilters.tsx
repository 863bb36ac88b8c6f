import { Button, Label, LabelGroup, ToolbarGroup, ToolbarItem } from "@patternfly/react-core";
import { describeValue, facets, menuNames } from "./facets";
import { noFilters, type Query } from "./query";

/**
 * The chosen filters, each with a button that removes it. It is the markup of PatternFly's ToolbarFilter, whose
 * buttons have English names.
 */
export function ChosenFilters({ query, onChange }: { query: Query; onChange: (part: Partial<Query>) => void }) {
  const chosen = menuNames.filter((name) => query[name].length > 0);
  if (chosen.length === 0) {
    return null;
  }
  return (
    <div className="pf-v6-c-toolbar__content">
      <ToolbarGroup>
        {chosen.map((name) => (
          <ToolbarItem key={name} variant="label-group">
            <LabelGroup
              categoryName={facets[name].title}
              isClosable
              closeBtnAriaLabel="Remove the filters:"
              onClick={() => onChange({ [name]: [] })}
              collapsedText={`${query[name].length - shown} more`}
              expandedText="Show less"
              numLabels={shown}
            >
              {query[name].map((value) => (
                <Label
                  key={value}
                  closeBtnAriaLabel={`Remove the filter ${describeValue(name, value)}`}
                  onClose={() => onChange({ [name]: query[name].filter((other) => other !== value) })}
                >
                  {describeValue(name, value)}
                </Label>
              ))}
            </LabelGroup>
          </ToolbarItem>
        ))}
      </ToolbarGroup>
      <ToolbarGroup variant="action-group-inline">
        <ToolbarItem>
          <Button variant="link" isInline onClick={() => onChange(noFilters)}>
            Clear all filters
          </Button>
        </ToolbarItem>
      </ToolbarGroup>
    </div>
  );
}

/** How many values of a facet are shown until all are asked for. */
const shown = 3;
