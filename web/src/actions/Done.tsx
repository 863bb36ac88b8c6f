import { Alert, AlertActionCloseButton } from "@patternfly/react-core";
import type { ReactNode } from "react";

/** Announces what an action did; nothing without a text. */
export function Done({ text, onClose, children }: { text: string | undefined; onClose: () => void; children?: ReactNode }) {
  return (
    <div role="status">
      {text && (
        <Alert component="p" isInline variant="success" title={text} actionClose={<AlertActionCloseButton onClose={onClose} />}>
          {children}
        </Alert>
      )}
    </div>
  );
}
