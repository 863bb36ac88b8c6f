import { ClipboardCopy, FormGroup } from "@patternfly/react-core";

/** A command to run in a terminal in place of an action. */
export function Command({ id, text }: { id: string; text: string }) {
  return (
    <FormGroup role="group" label="The same with kubectl" fieldId={id}>
      <ClipboardCopy isReadOnly isCode hoverTip="Copy the command" clickTip="Copied" textAriaLabel="kubectl command" copyAriaLabel="Copy kubectl command">
        {text}
      </ClipboardCopy>
    </FormGroup>
  );
}
