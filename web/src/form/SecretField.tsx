import { missingRight } from "../layout/MissingRight";
import { listAnd } from "../words/format";
import { t } from "../words/t";
import { ComboField } from "./ComboField";
import { useForm } from "./fields";
import { valueAt, type Path } from "./model";
import { lacking, optionsOf, type Secrets } from "./secrets";

interface Props {
  path: Path;
  label: string;
  keys: readonly string[];
  secrets: Secrets;
  /** What the Secret is for, as a sentence. */
  purpose?: string;
  isRequired?: boolean;
}

/** The name of a Secret that must have some keys. It can always be typed. */
export function SecretField({ path, label, keys, secrets, purpose, isRequired = false }: Props) {
  const { input } = useForm();
  const { items = [], truncated, mayList } = secrets;
  const chosen = items.find(({ name }) => name === valueAt(input, path));
  const lacks = chosen ? lacking(chosen, keys) : [];
  const help = [...(purpose ? [purpose] : []), t("A Secret in the same namespace with {keys}.", { keys: listAnd(keys) })];
  if (mayList === false) {
    help.push(t("Enter its name. {reason}.", { reason: missingRight("secrets", input.namespace ?? "") }));
  }
  if (truncated) {
    help.push(t("The namespace has more Secrets than are listed: enter the name of another."));
  }
  return (
    <ComboField
      path={path}
      label={label}
      isRequired={isRequired}
      {...(isRequired ? { empty: "" } : {})}
      options={optionsOf(items, keys)}
      help={help.join(" ")}
      warning={lacks.length > 0 ? t("This Secret lacks {keys}. Choose another one, or other entries of it.", { keys: listAnd(lacks) }) : undefined}
    />
  );
}
