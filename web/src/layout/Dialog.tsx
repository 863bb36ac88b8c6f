import { Modal, type ModalProps } from "@patternfly/react-core";
import { useEffect } from "react";

/** Receives the focus in a new dialog: the first field, or the first button. */
const first = ".pf-v6-c-modal-box__body :is(input:not([readonly]), select, textarea), .pf-v6-c-modal-box__footer button";

/** A dialog for keyboard users. The focus returns to the previous element, or to the heading of the view. */
export function Dialog(props: Omit<ModalProps, "ref" | "isOpen">) {
  useEffect(() => {
    const before = document.activeElement;
    return () => {
      setTimeout(() => {
        if (document.activeElement === document.body) {
          const heading = document.querySelector<HTMLElement>("#main h1");
          heading?.setAttribute("tabindex", "-1");
          (before instanceof HTMLElement && before !== document.body && before.isConnected ? before : heading)?.focus({ preventScroll: true });
        }
      });
    };
  }, []);
  return <Modal elementToFocus={first} {...props} isOpen />;
}
