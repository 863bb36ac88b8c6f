import { ClipboardCopy, FormGroup } from "@patternfly/react-core";
import { t } from "../words/t";

/** A command to run in a terminal in place of an action. */
export function Command({ id, text }: { id: string; text: string }) {
  return (
    <FormGroup role="group" label={t("The same with kubectl")} fieldId={id}>
      <ClipboardCopy isReadOnly isCode hoverTip={t("Copy the command")} clickTip={t("Copied")} textAriaLabel={t("kubectl command")} copyAriaLabel={t("Copy kubectl command")}>
        {text}
      </ClipboardCopy>
    </FormGroup>
  );
}
