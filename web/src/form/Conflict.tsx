import { Alert, AlertActionCloseButton, Radio } from "@patternfly/react-core";
import { useEffect, useRef } from "react";
import { DataTable } from "../layout/DataTable";
import { same, show, type Clash, type Merged } from "../model/merge";
import { valueAt, withValue } from "../model/model";
import { list } from "../words/format";
import { useForm } from "./fields";

/** Concurrent changes of another user. For fields that both changed, the user chooses; the default is their own value. */
export function Conflict({ merged: { taken, clashes }, onClose }: { merged: Merged; onClose: () => void }) {
  const { input, change } = useForm();
  const notice = useRef<HTMLDivElement>(null);
  // The user may be at the end of the form.
  useEffect(() => notice.current?.focus(), []);
  const side = ({ path, ...values }: Clash, choice: "theirs" | "mine", word: string) => {
    const name = path.join(".");
    return (
      <Radio
        id={`${name}-${choice}`}
        name={`clash-${name}`}
        label={
          <span className="dr-break">
            <span className="pf-v6-screen-reader">{`${name}: ${word}, `}</span>
            {show(values[choice])}
          </span>
        }
        isChecked={same(valueAt(input, path), values[choice])}
        onChange={() => change(withValue(input, path, values[choice]), name)}
      />
    );
  };
  return (
    <div ref={notice} tabIndex={-1} className="dr-heading">
      <Alert
        component="p"
        isInline
        variant={clashes.length > 0 ? "warning" : "info"}
        title={clashes.length > 0 ? "Another user changed the same fields" : "Another user changed this Darkroom while you were editing"}
        role="alert"
        actionClose={<AlertActionCloseButton onClose={onClose} />}
      >
        {taken.length > 0 && <p>Their changes to {list(taken.map((path) => path.join(".")))} are included. Yours are kept.</p>}
        {clashes.length > 0 && (
          <DataTable
            label="Conflicting fields"
            columns={{ Field: {}, Before: { breaks: true }, Theirs: {}, Yours: {} }}
            rows={clashes.map((clash) => ({
              key: clash.path.join("."),
              cells: [<strong>{clash.path.join(".")}</strong>, show(clash.base), side(clash, "theirs", "theirs"), side(clash, "mine", "yours")],
            }))}
          />
        )}
      </Alert>
    </div>
  );
}
