import { Tabs as PlainTabs, type TabsProps } from "@patternfly/react-core";
import { t } from "../words/t";

/** PatternFly's tabs, with the names of their buttons in the language of the page. */
export const Tabs = (props: Omit<TabsProps, "ref">) => (
  <PlainTabs {...props} backScrollAriaLabel={t("Scroll back")} forwardScrollAriaLabel={t("Scroll forward")} />
);
