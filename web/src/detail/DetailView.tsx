import { Button, Label, PageSection, Tab, TabContent, Tabs, TabTitleText, Title, Tooltip } from "@patternfly/react-core";
import { Suspense, useState } from "react";
import { lazyView } from "../lazyView";
import { ActionDialog } from "../actions/ActionDialog";
import { ActionMenu } from "../actions/ActionMenu";
import type { ActionName } from "../actions/actions";
import { api } from "../api/client";
import { keyOf, type Access, type Darkroom, type Key } from "../api/types";
import { Crumbs } from "../layout/Crumbs";
import { Loading } from "../layout/Loading";
import { NotLoaded } from "../layout/NotLoaded";
import { useDarkroom, useSynced } from "../live/useLive";
import { linkTo, navigate, paths, usePathname, useSearch } from "../router";
import { useAccess } from "../useAccess";
import { useLoaded } from "../useLoaded";
import { PhaseLabel, phaseOf, sentenceOf } from "../words/phases";
import { useWaiting } from "../words/waiting";
import { DeleteDialog } from "./DeleteDialog";
import { Events } from "./Events";
import { Overview } from "./Overview";
import { Playground } from "./Playground";

const RotateDialog = lazyView(() => import("../actions/RotateDialog"));
// They need the YAML library.
const History = lazyView(() => import("./History"));
const YamlText = lazyView(() => import("./YamlText"));

const tabs = { overview: "Overview", playground: "Playground", history: "History", yaml: "YAML" };
type TabName = keyof typeof tabs;

/** One Darkroom, live. */
export default function DetailView({ of }: { of: Key }) {
  const synced = useSynced();
  const live = useDarkroom(of);
  // Users who may get the Darkroom but not watch it get a single read.
  const missing = synced && !live;
  const read = useLoaded(`darkroom ${keyOf(of)} ${missing}`, (signal) => api.get(of, signal), { enabled: missing, once: true });
  const darkroom = live ?? read.value;
  const access = useAccess(of.namespace, of.name);
  return (
    <>
      <Crumbs here={of.name} />
      {darkroom ? (
        <Shown darkroom={darkroom} access={access} />
      ) : (
        <NotLoaded problem={read.problem} onRetry={read.reload} />
      )}
    </>
  );
}

function Shown({ darkroom, access }: { darkroom: Darkroom; access: Access | undefined }) {
  const [deleting, setDeleting] = useState(false);
  const [action, setAction] = useState<ActionName | "rotate">();
  const waiting = useWaiting(darkroom);
  const pathname = usePathname();
  const wanted = new URLSearchParams(useSearch()).get("tab") ?? "overview";
  const tab: TabName = Object.hasOwn(tabs, wanted) ? (wanted as TabName) : "overview";
  const gone = Boolean(darkroom.deletedAt);
  return (
    <>
      <PageSection>
        <div className="dr-row dr-row--apart dr-row--top">
          <div className="dr-headline">
            <div className="dr-row">
              <Title headingLevel="h1" className="dr-break">
                {darkroom.name}
              </Title>
              <span role="status" aria-label="Phase">
                {waiting ? <Label color="blue">{waiting.title}</Label> : <PhaseLabel phase={phaseOf(darkroom)} />}
              </span>
              <span className="dr-quiet dr-break">{waiting ? waiting.advice : ["Ready", "Failed", "Degraded"].includes(phaseOf(darkroom)) ? undefined : sentenceOf(darkroom)}</span>
            </div>
          </div>
          <div className="dr-row">
            <ActionMenu darkroom={darkroom} access={access} onAct={setAction} />
            <Allowed allowed={access?.update !== false} refusal="You do not have permission to edit this Darkroom">
              <Button variant="secondary" {...linkTo(paths.edit(darkroom))} isAriaDisabled={access?.update === false || gone}>
                Edit
              </Button>
            </Allowed>
            <Allowed allowed={access?.delete !== false} refusal="You do not have permission to delete this Darkroom">
              <Button variant="secondary" isDanger isAriaDisabled={access?.delete === false || gone} onClick={() => setDeleting(true)}>
                Delete
              </Button>
            </Allowed>
          </div>
        </div>
      </PageSection>
      <PageSection type="tabs" className="dr-detail-tabs">
        <Tabs
          activeKey={tab}
          onSelect={(_, key) => navigate(key === "overview" ? pathname : `${pathname}?tab=${key}`)}
          aria-label="Details of the Darkroom"
          isOverflowHorizontal
          usePageInsets
        >
          {Object.entries(tabs).map(([name, title]) => (
            <Tab key={name} eventKey={name} title={<TabTitleText>{title}</TabTitleText>} tabContentId={`part-${name}`} />
          ))}
        </Tabs>
      </PageSection>
      <PageSection isFilled>
        <TabContent id={`part-${tab}`} eventKey={tab} activeKey={tab} aria-label={tabs[tab]}>
          <Suspense fallback={<Loading />}>
            {tab === "overview" && <Overview darkroom={darkroom} access={access} />}
            {tab === "playground" && <Playground darkroom={darkroom} mayFetch={access?.image !== false} />}
            {tab === "history" && (
              <div className="dr-stack">
                <History darkroom={darkroom} access={access} />
                <Title headingLevel="h2">Events</Title>
                <Events darkroom={darkroom} />
              </div>
            )}
            {tab === "yaml" && <YamlText darkroom={darkroom} />}
          </Suspense>
        </TabContent>
      </PageSection>
      {action === "rotate" ? (
        <Suspense>
          <RotateDialog darkroom={darkroom} onClose={() => setAction(undefined)} />
        </Suspense>
      ) : (
        action && <ActionDialog action={action} darkroom={darkroom} onClose={() => setAction(undefined)} />
      )}
      {deleting && <DeleteDialog of={darkroom} onClose={() => setDeleting(false)} />}
    </>
  );
}

/** Explains why a button is disabled. */
function Allowed({ allowed, refusal, children }: { allowed: boolean; refusal: string; children: React.ReactElement }) {
  return allowed ? children : <Tooltip content={refusal}>{children}</Tooltip>;
}
