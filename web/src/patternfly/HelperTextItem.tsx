import { HelperTextItem as PlainItem, type HelperTextItemProps } from "@patternfly/react-core";
import { t } from "../words/t";

interface Props extends HelperTextItemProps {
  variant?: "default" | "warning" | "error";
}

/** PatternFly's text below a field, with the words for screen readers in the language of the page. */
export function HelperTextItem({ variant = "default", ...rest }: Props) {
  const status = variant === "error" ? t("error status") : variant === "warning" ? t("warning status") : undefined;
  return <PlainItem {...rest} variant={variant} screenReaderText={status} />;
}
