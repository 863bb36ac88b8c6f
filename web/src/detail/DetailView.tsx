import {
  Breadcrumb,
  BreadcrumbItem,
  Bullseye,
  Button,
  Flex,
  FlexItem,
  PageSection,
  Spinner,
  Tab,
  TabContent,
  Tabs,
  TabTitleText,
  Title,
  Tooltip,
} from "@patternfly/react-core";
import { useState } from "react";
import { api } from "../api/client";
import { Problem } from "../api/problem";
import { keyOf, type Access, type Darkroom, type Key } from "../api/types";
import { ProblemState } from "../layout/ProblemState";
import { useDarkroom, useSnapshot } from "../live/useLive";
import { followLink, Link, navigate, paths, usePathname, useSearch } from "../router";
import { useLoaded } from "../useLoaded";
import { PhaseLabel, phaseOf, sentenceOf } from "../words/phases";
import { DeleteDialog } from "./DeleteDialog";
import { Events } from "./Events";
import { Manifest } from "./Manifest";
import { Overview } from "./Overview";
import { Playground } from "./Playground";
import { Yaml } from "./Yaml";

const tabs = { overview: "Overview", playground: "Playground", events: "Events", yaml: "YAML", manifest: "Manifest" } as const;
type TabName = keyof typeof tabs;

/** One Darkroom, live. */
export default function DetailView({ of }: { of: Key }) {
  const { synced } = useSnapshot();
  const live = useDarkroom(of);
  // Who may get this one, but watch none, is told by a single read.
  const missing = synced && !live;
  const read = useLoaded<Darkroom | undefined>(`${keyOf(of)} ${missing}`, async (signal) => (missing ? api.get(of, signal) : undefined));
  const darkroom = live ?? read.value;
  const { value: access } = useLoaded(`access ${keyOf(of)}`, (signal) => api.access(of, signal));
  return (
    <>
      <PageSection type="breadcrumb">
        <Breadcrumb aria-label="Where you are">
          <BreadcrumbItem render={({ className }) => <Link to={paths.list} className={className}>Darkrooms</Link>} />
          <BreadcrumbItem isActive>{of.name}</BreadcrumbItem>
        </Breadcrumb>
      </PageSection>
      {darkroom ? (
        <Shown darkroom={darkroom} access={access} />
      ) : read.problem ? (
        <PageSection isFilled>
          <ProblemState problem={inOurWords(read.problem, of)} onRetry={read.reload}>
            <Button variant="link" onClick={() => navigate(paths.list)}>
              All Darkrooms
            </Button>
          </ProblemState>
        </PageSection>
      ) : (
        <Bullseye>
          <Spinner aria-label="Loading" />
        </Bullseye>
      )}
    </>
  );
}

const inOurWords = (problem: Problem, { namespace, name }: Key): Problem =>
  problem.status === 404 ? new Problem(404, problem.title, `There is no Darkroom ${name} in the namespace ${namespace}. It may have been deleted.`) : problem;

function Shown({ darkroom, access }: { darkroom: Darkroom; access: Access | undefined }) {
  const [deleting, setDeleting] = useState(false);
  const pathname = usePathname();
  const wanted = new URLSearchParams(useSearch()).get("tab") ?? "overview";
  const tab: TabName = wanted in tabs ? (wanted as TabName) : "overview";
  const gone = Boolean(darkroom.deletedAt);
  return (
    <>
      <PageSection>
        <Flex justifyContent={{ default: "justifyContentSpaceBetween" }} alignItems={{ default: "alignItemsFlexStart" }} gap={{ default: "gapMd" }}>
          <FlexItem className="dr-headline">
            <Flex alignItems={{ default: "alignItemsCenter" }} gap={{ default: "gapSm" }}>
              <Title headingLevel="h1" className="dr-break">
                {darkroom.name}
              </Title>
              <span role="status" aria-label="Phase">
                <PhaseLabel phase={phaseOf(darkroom)} />
              </span>
            </Flex>
            <p className="dr-quiet dr-break">{sentenceOf(darkroom)}</p>
          </FlexItem>
          <FlexItem>
            <Flex gap={{ default: "gapSm" }}>
              <Allowed allowed={access?.update !== false} verb="change">
                <Button
                  variant="secondary"
                  component="a"
                  href={paths.edit(darkroom)}
                  isAriaDisabled={access?.update === false || gone}
                  onClick={(event) => followLink(event, paths.edit(darkroom))}
                >
                  Edit
                </Button>
              </Allowed>
              <Allowed allowed={access?.delete !== false} verb="delete">
                <Button variant="secondary" isDanger isAriaDisabled={access?.delete === false || gone} onClick={() => setDeleting(true)}>
                  Delete
                </Button>
              </Allowed>
            </Flex>
          </FlexItem>
        </Flex>
      </PageSection>
      <PageSection type="tabs" className="dr-detail-tabs">
        <Tabs
          activeKey={tab}
          onSelect={(_, key) => navigate(key === "overview" ? pathname : `${pathname}?tab=${key}`, { replace: true })}
          aria-label="Parts of this Darkroom"
          usePageInsets
        >
          {Object.entries(tabs).map(([name, title]) => (
            <Tab key={name} eventKey={name} title={<TabTitleText>{title}</TabTitleText>} tabContentId={`part-${name}`} />
          ))}
        </Tabs>
      </PageSection>
      <PageSection isFilled>
        <TabContent id={`part-${tab}`} eventKey={tab} activeKey={tab} aria-label={tabs[tab]}>
          {tab === "overview" && <Overview darkroom={darkroom} />}
          {tab === "playground" && <Playground darkroom={darkroom} mayFetch={access?.image !== false} />}
          {tab === "events" && <Events darkroom={darkroom} />}
          {tab === "yaml" && <Yaml darkroom={darkroom} />}
          {tab === "manifest" && <Manifest darkroom={darkroom} />}
        </TabContent>
      </PageSection>
      {deleting && <DeleteDialog of={darkroom} onClose={() => setDeleting(false)} />}
    </>
  );
}

/** Says why a button does nothing. */
function Allowed({ allowed, verb, children }: { allowed: boolean; verb: string; children: React.ReactElement }) {
  return allowed ? children : <Tooltip content={`You may not ${verb} this Darkroom`}>{children}</Tooltip>;
}
