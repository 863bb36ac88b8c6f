import { ModalBody, ModalHeader, Switch } from "@patternfly/react-core";
import { Fragment } from "react";
import { Modal } from "../patternfly/Modal";
import { msg, rich, t, type Message } from "../words/t";
import { otherKeys, singleKeys, type Shortcut } from "./keys";
import { setSingleKeys, useSingleKeys } from "./setting";

/** Lists the keyboard shortcuts, and turns those of single characters off. */
export default function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const on = useSingleKeys();
  return (
    <Modal isOpen variant="small" onClose={onClose} aria-labelledby="shortcuts-title">
      <ModalHeader title={t("Keyboard shortcuts")} labelId="shortcuts-title" />
      <ModalBody>
        <div className="dr-stack">
          <Keys of={on ? [...singleKeys, ...otherKeys] : otherKeys} />
          <div>
            <Switch
              id="single-keys"
              label={t("Shortcuts of single characters")}
              aria-describedby="single-keys-help"
              isChecked={on}
              onChange={(_, checked) => setSingleKeys(checked)}
            />
            <p id="single-keys-help" className="dr-quiet dr-small">
              {t("Turn them off if you use speech input, or press keys by accident. This browser remembers it.")}
            </p>
          </div>
        </div>
      </ModalBody>
    </Modal>
  );
}

function Keys({ of }: { of: readonly Shortcut[] }) {
  return (
    <dl className="dr-keys">
      {of.map(({ keys, text }) => (
        <div key={keys.join()}>
          <dt>{t(text)}</dt>
          <dd>
            <Sequence of={keys} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** One chord, or two that follow one another. */
function Sequence({ of: [first = [], second] }: { of: string[][] }) {
  return second ? rich("{first} then {second}", { first: <Chord of={first} />, second: <Chord of={second} /> }) : <Chord of={first} />;
}

/** Keys with a name of their own. */
const keyNames: Record<string, Message> = { Ctrl: msg("Ctrl"), Enter: msg("Enter"), Esc: msg("Esc") };

function Chord({ of: keys }: { of: string[] }) {
  return keys.map((key, at) => (
    <Fragment key={key}>
      {at > 0 && "+"}
      <kbd>{keyNames[key] ? t(keyNames[key]) : key}</kbd>
    </Fragment>
  ));
}
