import { ActionGroup, Alert, AlertActionCloseButton, AlertActionLink, Button, Form, Tab, TabContent, Tabs, TabTitleText } from "@patternfly/react-core";
import { Activity, lazy, Suspense, useCallback, useEffect, useMemo, useState } from "react";
import { Loading } from "../layout/Loading";
import { Boundary } from "../layout/Boundary";
import type { Darkroom, DarkroomInput, Key } from "../api/types";
import { useDarkroom } from "../live/useLive";
import { navigate, paths } from "../router";
import { list } from "../words/format";
import { Conflict } from "./Conflict";
import { dropDraft, saveDraft, type Draft } from "./drafts";
import { ErrorSummary } from "./ErrorSummary";
import { FormContext, idOf, type FormState } from "./fields";
import { FormFields } from "./FormFields";
import { same } from "../model/merge";
import { takesKeys, toInput, valueAt } from "../model/model";
import { Review } from "./Review";
import { nameInUse, useChecked } from "./useChecked";
import { useSaving } from "./useSaving";
import { validate, type FieldError } from "./validate";

const YamlEditor = lazy(() => import("./YamlEditor"));

interface Props {
  initial: DarkroomInput;
  /** The version that is edited; none for a new Darkroom. */
  loaded?: Darkroom;
  /** Unsaved changes of an earlier visit. */
  draft?: Draft;
  /** Discards the changes and loads the Darkroom again. */
  onReload?: () => void;
}

/** Edits a Darkroom as form or YAML, then reviews and saves it. */
export function Editor({ initial, loaded, draft, onReload }: Props) {
  const [input, setInput] = useState(draft?.input ?? initial);
  const [restored, setRestored] = useState(draft !== undefined);
  const [missing, setMissing] = useState<readonly string[]>(draft?.withheld ?? []);
  const [tab, setTab] = useState<"form" | "yaml">("form");
  /** The YAML as typed, with comments. It is never stored, because it may contain secrets. */
  const [text, setText] = useState<string>();
  const [yamlBroken, setYamlBroken] = useState(false);
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [attempted, setAttempted] = useState(false);
  /** The field to move the focus to. */
  const [target, setTarget] = useState<string | undefined>(() => new URLSearchParams(location.search).get("field") ?? undefined);
  const saving = useSaving(loaded, setInput);
  const { base } = saving;
  const deleted = useDeleted(loaded);
  const began = useMemo(() => (base ? toInput(base) : initial), [base, initial]);
  const dirty = !same(input, began);
  /** Whether there are no changes to review, own or concurrent. */
  const untouched = loaded !== undefined && !dirty && same(input, initial);
  useDraft(loaded, input, base, dirty);

  const invalid = useMemo(() => [...validate(input, base), ...enterAgain(missing, input)], [input, base, missing]);
  const checked = useChecked(input, base, dirty && invalid.length === 0 && !saving.busy && !saving.reviewed);
  const own = [...invalid, ...checked.errors];
  const shown = own.filter(({ location }) => attempted || tab === "yaml" || [...touched].some((field) => location === field || location.startsWith(`${field}.`)));
  const errors = [...shown, ...without(saving.errors, shown)];
  useEffect(() => {
    if (target === undefined || tab !== "form") {
      return;
    }
    /* eslint-disable react-hooks/set-state-in-effect -- the fields of the form are known only after it is rendered */
    const found = elementOf(target);
    if (found) {
      found.focus();
      setTarget(undefined);
    } else {
      setTab("yaml"); // it selects the target
    }
    /* eslint-enable react-hooks/set-state-in-effect */
  }, [target, tab]);
  const form: FormState = {
    input,
    errors,
    warnings: checked.warnings,
    missing,
    target,
    disabled: saving.busy,
    change: (next, location) => {
      setInput(next);
      setMissing((before) => (location === "" ? [] : before.filter((field) => field !== location)));
      saving.forget(location);
    },
    touch: (location) => setTouched((before) => (before.has(location) ? before : new Set(before).add(location))),
  };
  const review = () => {
    setAttempted(true);
    const first = own.find(({ message }) => message !== nameInUse.message);
    if (first) {
      goTo(first.location);
      return;
    }
    void saving.review(input);
  };
  const goTo = (location: string) => {
    // The YAML tab shows errors at their lines.
    setTab(tab === "form" && elementOf(location) ? "form" : "yaml");
    setTarget(location);
  };
  const arrived = useCallback(() => setTarget(undefined), []);
  const leave = () => {
    dropDraft(loaded);
    navigate(loaded ? paths.detail(loaded) : paths.list);
  };
  const discard = () => {
    dropDraft(loaded);
    setInput(initial);
    setText(undefined);
    setMissing([]);
    setRestored(false);
    onReload?.();
  };

  return (
    <FormContext value={form}>
      {saving.reviewed && (
        <Review
          reviewed={saving.reviewed}
          before={loaded && began}
          input={input}
          busy={saving.busy}
          problem={saving.problem}
          onSave={() => void saving.save(input)}
          onBack={saving.back}
        />
      )}
      {/* What is hidden keeps what was typed and is no part of the input, such as a service account key. */}
      <Activity mode={saving.reviewed ? "hidden" : "visible"}>
        <Tabs activeKey={tab} onSelect={(_, key) => setTab(key as "form" | "yaml")} aria-label="Form or YAML" className="dr-tabs">
          <Tab eventKey="form" title={<TabTitleText>Form</TabTitleText>} isAriaDisabled={yamlBroken} tabContentId="part-form" />
          <Tab eventKey="yaml" title={<TabTitleText>YAML</TabTitleText>} tabContentId="part-yaml" />
        </Tabs>
        <TabContent id={`part-${tab}`} eventKey={tab} activeKey={tab} aria-label={tab === "form" ? "Form" : "YAML"}>
          <Form
            className="dr-form"
            noValidate
            onSubmit={(event) => {
              event.preventDefault();
              review();
            }}
          >
            {deleted && (
              <Alert component="p" isInline variant="warning" title="This Darkroom was deleted while you were editing" role="alert">
                Your changes cannot be saved to it. To use them, copy them from the YAML tab and create a new Darkroom.
              </Alert>
            )}
            {restored && (
              <Alert
                component="p"
                isInline
                variant="info"
                title="Your unsaved changes were restored"
                actionLinks={<AlertActionLink onClick={discard}>Discard changes</AlertActionLink>}
                actionClose={<AlertActionCloseButton onClose={() => setRestored(false)} />}
              >
                {missing.length > 0 && `Secrets are never kept. Enter again: ${list(missing)}.`}
              </Alert>
            )}
            {saving.merged && <Conflict merged={saving.merged} onClose={saving.acknowledge} />}
            <ErrorSummary problem={saving.problem} errors={attempted ? errors : saving.errors} isNew={!loaded} input={input} onGoTo={goTo} />
            <Activity mode={tab === "form" ? "visible" : "hidden"}>
              <FormFields loaded={base} />
            </Activity>
            {tab === "yaml" && (
              <Boundary>
                <Suspense fallback={<Loading />}>
                  <YamlEditor
                    input={input}
                    text={text}
                    target={target}
                    onChange={(next, typed) => {
                      setText(typed);
                      form.change(next, "");
                    }}
                    onBroken={setYamlBroken}
                    onArrived={arrived}
                  />
                </Suspense>
              </Boundary>
            )}
            <ActionGroup className={tab === "form" ? "dr-actions" : "dr-actions dr-actions--after"}>
              <Button type="submit" isLoading={saving.busy} isDisabled={saving.busy || yamlBroken || deleted || untouched}>
                {loaded ? "Review changes" : "Review"}
              </Button>
              <Button variant="link" onClick={leave}>
                Cancel
              </Button>
            </ActionGroup>
          </Form>
        </TabContent>
      </Activity>
    </FormContext>
  );
}

/** The errors of fields without another error. */
const without = (errors: readonly FieldError[], known: readonly FieldError[]): FieldError[] =>
  errors.filter(({ location }) => !known.some((error) => error.location === location));

/** Secrets of a restored draft must be entered again; otherwise saving would silently keep the stored values. Replaced keys are exempt. */
const enterAgain = (missing: readonly string[], input: DarkroomInput): FieldError[] =>
  missing
    .filter((location) => location.startsWith("extraEnv.") || takesKeys(valueAt(input, location.split(".").slice(0, -1))))
    .map((location) => ({ location, message: "Enter it again: secrets are not kept with unsaved changes" }));

/** The form field of a location or of its closest parent; undefined if only the YAML contains it. */
function elementOf(location: string): HTMLElement | undefined {
  for (const path = location.split("."); path.length > 0; path.pop()) {
    const found = document.getElementById(idOf(path.join(".")));
    if (found) {
      return found;
    }
  }
  return undefined;
}

/** Whether the edited Darkroom was deleted or replaced, according to live events. */
function useDeleted(loaded: Darkroom | undefined): boolean {
  const live = useDarkroom(loaded ?? { namespace: "", name: "" });
  const [seen, setSeen] = useState(false);
  const here = live !== undefined && live.uid === loaded?.uid && !live.deletedAt;
  if (here && !seen) {
    setSeen(true);
  }
  return seen && !here;
}

/** Keeps unsaved changes as a draft, and asks before the tab is closed. */
function useDraft(key: Key | undefined, input: DarkroomInput, base: Darkroom | undefined, dirty: boolean): void {
  useEffect(() => {
    if (dirty) {
      saveDraft(key, input, base);
    } else {
      dropDraft(key);
    }
  }, [key, input, base, dirty]);
  useEffect(() => {
    if (!dirty) {
      return undefined;
    }
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [dirty]);
}
