import { ActionGroup, Alert, AlertActionCloseButton, AlertActionLink, Button, Form, Tab, TabContent, Tabs, TabTitleText } from "@patternfly/react-core";
import { Activity, lazy, Suspense, useCallback, useEffect, useMemo, useState } from "react";
import { Loading } from "../layout/Loading";
import { Boundary } from "../layout/Boundary";
import { keyOf, type Darkroom, type DarkroomInput, type Key } from "../api/types";
import { useDarkroom } from "../live/useLive";
import { navigate, paths } from "../router";
import { list } from "../words/format";
import { Conflict } from "./Conflict";
import { dropDraft, saveDraft, type Draft, type DraftKey } from "./drafts";
import { ErrorSummary } from "./ErrorSummary";
import { FormContext, idOf, type FormState } from "./fields";
import { FormFields } from "./FormFields";
import { same } from "../model/merge";
import { takesKeys, toInput, valueAt } from "../model/model";
import { Review } from "./Review";
import { useChecked } from "./useChecked";
import { useSaving } from "./useSaving";
import { validate, type FieldError } from "./validate";

const YamlEditor = lazy(() => import("./YamlEditor"));

interface Props {
  initial: DarkroomInput;
  /** The version that is edited; none for a new Darkroom. */
  loaded?: Darkroom;
  /** The Darkroom that the initial values were copied from, and the secrets that were not. */
  copied?: { from: Key; withheld: readonly string[] };
  /** What an earlier visit left unsaved. */
  draft?: Draft;
  /** Loads the Darkroom again, without the changes made here. */
  onReload?: () => void;
}

/** Edits one Darkroom: form and YAML of the same input, then a review, then it is saved. */
export function Editor({ initial, loaded, copied, draft, onReload }: Props) {
  const draftKey = useMemo((): DraftKey => loaded ?? (copied && { copyOf: copied.from }), [loaded, copied]);
  const [input, setInput] = useState(draft?.input ?? initial);
  const [restored, setRestored] = useState(draft !== undefined);
  const [missing, setMissing] = useState<readonly string[]>((draft ?? copied)?.withheld ?? []);
  const [tab, setTab] = useState<"form" | "yaml">("form");
  /** The YAML as it was typed: it has comments. It is never stored, because it may have secrets. */
  const [text, setText] = useState<string>();
  const [yamlBroken, setYamlBroken] = useState(false);
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [attempted, setAttempted] = useState(false);
  /** The field that an error leads to, until it has the focus. */
  const [target, setTarget] = useState<string | undefined>(() => new URLSearchParams(location.search).get("field") ?? undefined);
  const saving = useSaving(loaded, draftKey, setInput);
  const { base } = saving;
  const deleted = useDeleted(loaded);
  const began = useMemo(() => (base ? toInput(base) : initial), [base, initial]);
  const dirty = !same(input, began);
  /** Whether there is nothing to review; what others changed can be. */
  const untouched = loaded !== undefined && !dirty && same(input, initial);
  useDraft(draftKey, input, base, dirty);

  const invalid = useMemo(() => [...validate(input, base), ...enterAgain(missing, input)], [input, base, missing]);
  const checked = useChecked(input, base, dirty && invalid.length === 0 && !saving.busy && !saving.reviewed);
  const own = [...invalid, ...checked.errors];
  const shown = own.filter(({ location }) => attempted || tab === "yaml" || [...touched].some((field) => location === field || location.startsWith(`${field}.`)));
  const errors = [...shown, ...without(saving.errors, shown)];
  useEffect(() => {
    if (target !== undefined && tab === "form") {
      elementOf(target)?.focus();
      // eslint-disable-next-line react-hooks/set-state-in-effect -- the focus can be set only after the tab is rendered
      setTarget(undefined);
    }
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
    const first = own[0];
    if (first) {
      goTo(first.location);
      return;
    }
    void saving.review(input);
  };
  const goTo = (location: string) => {
    // In the YAML tab errors are at their lines.
    setTab(tab === "form" && elementOf(location) ? "form" : "yaml");
    setTarget(location);
  };
  const arrived = useCallback(() => setTarget(undefined), []);
  const leave = () => {
    dropDraft(draftKey);
    const from = loaded ?? copied?.from;
    navigate(from ? paths.detail(from) : paths.list);
  };
  const discard = () => {
    dropDraft(draftKey);
    setInput(initial);
    setText(undefined);
    setMissing(copied?.withheld ?? []);
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
            {copied && !restored && (
              <Alert component="p" isInline variant="info" title={`Copied from ${keyOf(copied.from)}`}>
                Choose a name and at least one sub-domain: a host belongs to one Darkroom.
                {missing.length > 0 && ` Secrets are not copied. Enter: ${list(missing)}.`}
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

/** Errors at fields that have none yet. */
const without = (errors: readonly FieldError[], known: readonly FieldError[]): FieldError[] =>
  errors.filter(({ location }) => !known.some((error) => error.location === location));

/** Secrets of a restored draft are required, or saving would silently leave them as they were. Keys that others replace are not. */
const enterAgain = (missing: readonly string[], input: DarkroomInput): FieldError[] =>
  missing
    .filter((location) => location.startsWith("extraEnv.") || takesKeys(valueAt(input, location.split(".").slice(0, -1))))
    .map((location) => ({ location, message: "Enter it again: secrets are neither kept with unsaved changes nor copied" }));

/** The field of a location, or of the closest one above it. Without any it is only in the YAML. */
function elementOf(location: string): HTMLElement | undefined {
  for (const path = location.split("."); path.length > 0; path.pop()) {
    const found = document.getElementById(idOf(path.join(".")));
    if (found) {
      return found;
    }
  }
  return undefined;
}

/** Whether the edited Darkroom was seen in the live events, and is gone or replaced now. */
function useDeleted(loaded: Darkroom | undefined): boolean {
  const live = useDarkroom(loaded ?? { namespace: "", name: "" });
  const [seen, setSeen] = useState(false);
  const here = live !== undefined && live.uid === loaded?.uid && !live.deletedAt;
  if (here && !seen) {
    setSeen(true);
  }
  return seen && !here;
}

/** Keeps unsaved changes as a draft, and has the browser ask before the tab is closed with them. */
function useDraft(key: DraftKey, input: DarkroomInput, base: Darkroom | undefined, dirty: boolean): void {
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
