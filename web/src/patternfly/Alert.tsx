import { AlertActionCloseButton, Alert as PlainAlert, type AlertProps } from "@patternfly/react-core";
import { msg, t } from "../words/t";

const labels = {
  success: msg("Success alert:"),
  info: msg("Info alert:"),
  warning: msg("Warning alert:"),
  danger: msg("Danger alert:"),
};

interface Props extends Omit<AlertProps, "title" | "variant" | "actionClose"> {
  variant: keyof typeof labels;
  title: string;
  /** Closes the alert, if it can be closed. */
  onClose?: () => void;
}

/** PatternFly's alert, with the words for screen readers in the language of the page. */
export function Alert({ variant, title, onClose, ...rest }: Props) {
  const close = onClose && <AlertActionCloseButton aria-label={t("Close alert: {title}", { title })} onClose={onClose} />;
  return <PlainAlert {...rest} variant={variant} title={title} variantLabel={t(labels[variant])} actionClose={close} />;
}
