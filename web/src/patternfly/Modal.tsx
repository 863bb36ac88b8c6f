import { Button, Modal as PlainModal, type ModalProps } from "@patternfly/react-core";
import CloseIcon from "@patternfly/react-icons/dist/esm/icons/rh-microns-close-icon";
import { t } from "../words/t";

interface Props extends Omit<ModalProps, "onClose" | "ref"> {
  /** Closes the dialog; without it there is no button for that. */
  onClose?: () => void;
}

/** PatternFly's dialog, with a button to close it in the language of the page. */
export function Modal({ onClose, children, ...rest }: Props) {
  return (
    <PlainModal {...rest} onEscapePress={() => onClose?.()}>
      {onClose && (
        <div className="pf-v6-c-modal-box__close">
          <Button variant="plain" aria-label={t("Close")} icon={<CloseIcon />} onClick={onClose} />
        </div>
      )}
      {children}
    </PlainModal>
  );
}
