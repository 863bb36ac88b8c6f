import type { ReactNode } from "react";
import { Alert } from "../patternfly/Alert";

/** Announces what an action did; nothing without a text. */
export function Done({ text, onClose, children }: { text: string | undefined; onClose: () => void; children?: ReactNode }) {
  return (
    <div role="status">
      {text && (
        <Alert component="p" isInline variant="success" title={text} onClose={onClose}>
          {children}
        </Alert>
      )}
    </div>
  );
}
