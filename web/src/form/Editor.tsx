import { ActionGroup, Alert, AlertActionCloseButton, Bullseye, Button, Form, Spinner, Tab, TabContent, Tabs, TabTitleText } from "@patternfly/react-core";
import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import type { Darkroom, DarkroomInput } from "../api/types";
import { navigate, paths } from "../router";
import { Conflict } from "./Conflict";
import { ErrorSummary } from "./ErrorSummary";
import { FormContext, idOf, type FormState } from "./fields";
import { FormFields } from "./FormFields";
import { asksTheSame } from "./merge";
import { Review } from "./Review";
import { useSaving } from "./useSaving";
import { validate, type FieldError } from "./validate";

const YamlEditor = lazy(() => import("./YamlEditor"));

/** Edits one Darkroom: form and YAML of the same input, then a review, then it is saved. */
export function Editor({ initial, loaded, onReload }: { initial: DarkroomInput; loaded?: Darkroom; onReload?: () => void }) {
  const [input, setInput] = useState(initial);
  const [tab, setTab] = useState<"form" | "yaml">("form");
  const [yamlBroken, setYamlBroken] = useState(false);
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [attempted, setAttempted] = useState(false);
  const saving = useSaving(loaded, setInput);
  const dirty = !asksTheSame(input, initial);
  useLeaveWarning(dirty && !saving.saved);

  const own = useMemo(() => validate(input), [input]);
  const errors: FieldError[] = useMemo(
    () => [...own.filter(({ location }) => attempted || touched.has(location)), ...saving.errors],
    [own, attempted, touched, saving.errors],
  );
  const form: FormState = {
    input,
    errors,
    disabled: saving.busy,
    change: (next, location) => {
      setInput(next);
      saving.forget(location);
    },
    touch: (location) => setTouched((before) => (before.has(location) ? before : new Set(before).add(location))),
  };
  const review = () => {
    setAttempted(true);
    const first = own[0];
    if (first) {
      document.getElementById(idOf(first.location))?.focus();
      return;
    }
    void saving.review(input);
  };
  const leave = () => navigate(loaded ? paths.detail(loaded) : paths.list);

  if (saving.conflict) {
    return <Conflict conflict={saving.conflict} onResolve={saving.resolve} onReload={onReload} onCancel={() => saving.resolve(undefined)} />;
  }
  if (saving.reviewed) {
    return (
      <Review
        reviewed={saving.reviewed}
        isNew={!loaded}
        busy={saving.busy}
        problem={saving.problem}
        onSave={() => void saving.save(input)}
        onBack={saving.back}
      />
    );
  }
  return (
    <FormContext value={form}>
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
          {saving.taken.length > 0 && (
            <Alert
              component="p"
              isInline
              variant="info"
              title="Somebody else changed this Darkroom meanwhile"
              actionClose={<AlertActionCloseButton onClose={saving.acknowledge} />}
            >
              Their change of {saving.taken.map((path) => path.join(".")).join(", ")} is taken over. Yours stay.
            </Alert>
          )}
          <ErrorSummary problem={saving.problem} errors={attempted ? errors : saving.errors} isNew={!loaded} input={input} />
          {tab === "form" ? (
            <FormFields loaded={loaded} />
          ) : (
            <Suspense
              fallback={
                <Bullseye>
                  <Spinner aria-label="Loading the editor" />
                </Bullseye>
              }
            >
              <YamlEditor input={input} onChange={(next) => form.change(next, "")} onBroken={setYamlBroken} />
            </Suspense>
          )}
          <ActionGroup className="dr-actions">
            <Button type="submit" isLoading={saving.busy} isDisabled={saving.busy || yamlBroken || (Boolean(loaded) && !dirty)}>
              Review changes
            </Button>
            <Button variant="link" onClick={leave}>
              Cancel
            </Button>
          </ActionGroup>
        </Form>
      </TabContent>
    </FormContext>
  );
}

/** Has the browser ask before it drops what was typed. */
function useLeaveWarning(dirty: boolean): void {
  useEffect(() => {
    if (!dirty) {
      return undefined;
    }
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [dirty]);
}
