import { Button, TextInputGroup, TextInputGroupMain, TextInputGroupUtilities } from "@patternfly/react-core";
import SearchIcon from "@patternfly/react-icons/dist/esm/icons/search-icon";
import TimesIcon from "@patternfly/react-icons/dist/esm/icons/times-icon";

/** A search field. PatternFly's SearchInput includes a form for advanced searches. */
export function Search({ label, placeholder, value, onChange }: { label: string; placeholder: string; value: string; onChange: (value: string) => void }) {
  return (
    <TextInputGroup>
      <TextInputGroupMain icon={<SearchIcon />} type="search" aria-label={label} placeholder={placeholder} value={value} onChange={(_, text) => onChange(text)} />
      {value !== "" && (
        <TextInputGroupUtilities>
          <Button variant="plain" aria-label="Clear search" icon={<TimesIcon />} onClick={() => onChange("")} />
        </TextInputGroupUtilities>
      )}
    </TextInputGroup>
  );
}
