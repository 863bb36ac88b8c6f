import { Button, PageSection, SkipToContent, Title } from "@patternfly/react-core";
import { memo, Suspense, useCallback, useMemo, type MouseEvent } from "react";
import { lazyView } from "../lazyView";
import { useSnapshot } from "../live/useLive";
import { linkTo, navigate, paths, useSearch } from "../router";
import { ProblemState } from "../layout/ProblemState";
import { Attention } from "./Attention";
import { Counts } from "./Counts";
import { DarkroomTable } from "./DarkroomTable";
import { Filters } from "./Filters";
import { Create, Loading, NoneAtAll, NoneMatch } from "./states";
import { countBy, formatQuery, isFiltered, noFilters, parseQuery, select, type Query } from "./query";

const Pages = lazyView(() => import("./Pages"));

/** All Darkrooms that the user can see, live. */
export function ListView() {
  const { darkrooms, synced, all, connection, problem } = useSnapshot();
  const search = useSearch();
  const query = useMemo(() => parseQuery(search), [search]);
  const shown = useMemo(() => select(darkrooms, query), [darkrooms, query]);
  const counts = useMemo(() => countBy("phases", darkrooms, query), [darkrooms, query]);
  const change = useCallback(
    (part: Partial<Query>) => navigate(paths.list + formatQuery({ ...parseQuery(location.search), page: 1, ...part }), { replace: true }),
    [],
  );
  const page = Math.min(query.page, Math.max(1, Math.ceil(shown.length / query.perPage)));
  const visible = shown.slice((page - 1) * query.perPage, page * query.perPage);

  let body;
  let rows = false;
  if (connection === "refused" && problem) {
    body = <ProblemState problem={problem} onRetry={() => location.reload()} />;
  } else if (!synced) {
    body = <Loading lost={connection === "lost"} />;
  } else if (darkrooms.length === 0 && !isFiltered(query)) {
    body = <NoneAtAll all={all} />;
  } else {
    rows = shown.length > 0;
    body = (
      <>
        <Counts counts={counts} total={[...counts.values()].reduce((a, b) => a + b, 0)} query={query} onChange={change} />
        <Attention darkrooms={darkrooms} onChange={change} />
        <Filters query={query} onChange={change} found={shown.length} />
        {shown.length === 0 ? <NoneMatch onClear={() => change(noFilters)} /> : <DarkroomTable darkrooms={visible} query={query} onChange={change} />}
        <Suspense>{shown.length > 20 && <Pages query={query} page={page} found={shown.length} onChange={change} />}</Suspense>
      </>
    );
  }
  return (
    <>
      <Head rows={rows} />
      <PageSection isFilled aria-label="Darkrooms">
        {body}
      </PageSection>
    </>
  );
}

/** Without a link to an anchor, which would add a history entry. */
function skip(event: MouseEvent) {
  event.preventDefault();
  document.getElementById("rows")?.focus();
}

const Head = memo(function Head({ rows }: { rows: boolean }) {
  return (
    <PageSection>
      <div className="dr-row dr-row--apart dr-head">
        <Title headingLevel="h1">Darkrooms</Title>
        {rows && (
          <SkipToContent href="#rows" onClick={skip}>
            Skip to the first Darkroom
          </SkipToContent>
        )}
        <div className="dr-row">
          <Button variant="link" {...linkTo(paths.explain())}>
            Explain
          </Button>
          <Create />
        </div>
      </div>
    </PageSection>
  );
});
