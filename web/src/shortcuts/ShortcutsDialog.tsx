import { Modal, ModalBody, ModalHeader, Switch } from "@patternfly/react-core";
import { Fragment } from "react";
import { otherKeys, singleKeys, type Shortcut } from "./keys";
import { setSingleKeys, useSingleKeys } from "./setting";

/** Lists the keyboard shortcuts, and turns those of single characters off. */
export default function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const on = useSingleKeys();
  return (
    <Modal isOpen variant="small" onClose={onClose} aria-labelledby="shortcuts-title">
      <ModalHeader title="Keyboard shortcuts" labelId="shortcuts-title" />
      <ModalBody>
        <div className="dr-stack">
          <Keys of={on ? [...singleKeys, ...otherKeys] : otherKeys} />
          <div>
            <Switch
              id="single-keys"
              label="Shortcuts of single characters"
              aria-describedby="single-keys-help"
              isChecked={on}
              onChange={(_, checked) => setSingleKeys(checked)}
            />
            <p id="single-keys-help" className="dr-quiet dr-small">
              Turn them off if you use speech input, or press keys by accident. This browser remembers it.
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
        <div key={text}>
          <dt>{text}</dt>
          <dd>
            {keys.map((chord, at) => (
              <Fragment key={chord.join()}>
                {at > 0 && " then "}
                {chord.map((key, position) => (
                  <Fragment key={key}>
                    {position > 0 && "+"}
                    <kbd>{key}</kbd>
                  </Fragment>
                ))}
              </Fragment>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}
