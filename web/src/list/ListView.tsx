import { Button, Flex, FlexItem, PageSection, Title } from "@patternfly/react-core";
import { useMemo } from "react";
import { useSnapshot } from "../live/useLive";
import { followLink, navigate, paths, useSearch } from "../router";
import { ProblemState } from "../layout/ProblemState";
import { Counts } from "./Counts";
import { DarkroomTable } from "./DarkroomTable";
import { Filters } from "./Filters";
import { Loading, NoneAtAll, NoneMatch } from "./states";
import { Pages } from "./Pages";
import { countPhases, formatQuery, isFiltered, parseQuery, select, type Query } from "./query";

/** All Darkrooms that one may see, live. */
export function ListView() {
  const { darkrooms, synced, all, connection, problem } = useSnapshot();
  const search = useSearch();
  const query = useMemo(() => parseQuery(search), [search]);
  const shown = useMemo(() => select(darkrooms, query), [darkrooms, query]);
  const counts = useMemo(() => countPhases(darkrooms, query), [darkrooms, query]);
  const change = (part: Partial<Query>) => navigate(paths.list + formatQuery({ ...query, page: 1, ...part }), { replace: true });
  const page = Math.min(query.page, Math.max(1, Math.ceil(shown.length / query.perPage)));
  const visible = shown.slice((page - 1) * query.perPage, page * query.perPage);

  let body;
  if (connection === "refused" && problem) {
    body = <ProblemState problem={problem} onRetry={() => location.reload()} />;
  } else if (!synced) {
    body = <Loading lost={connection === "lost"} />;
  } else if (darkrooms.length === 0 && !isFiltered(query)) {
    body = <NoneAtAll all={all} />;
  } else {
    body = (
      <>
        <Counts counts={counts} total={[...counts.values()].reduce((a, b) => a + b, 0)} query={query} onChange={change} />
        <Filters darkrooms={darkrooms} query={query} onChange={change} found={shown.length} />
        {shown.length === 0 ? (
          <NoneMatch onClear={() => change({ search: "", phases: [], sources: [], namespaces: [] })} />
        ) : (
          <DarkroomTable darkrooms={visible} query={query} onChange={change} />
        )}
        <Pages query={{ ...query, page }} found={shown.length} onChange={change} />
      </>
    );
  }
  return (
    <>
      <PageSection>
        <Flex justifyContent={{ default: "justifyContentSpaceBetween" }} alignItems={{ default: "alignItemsCenter" }}>
          <FlexItem>
            <Title headingLevel="h1">Darkrooms</Title>
          </FlexItem>
          <FlexItem>
            <Button component="a" href={paths.create} onClick={(event) => followLink(event, paths.create)}>
              Create Darkroom
            </Button>
          </FlexItem>
        </Flex>
      </PageSection>
      <PageSection isFilled aria-label="Darkrooms" className="dr-list">
        {body}
      </PageSection>
    </>
  );
}
