import { Bullseye, EmptyState, EmptyStateBody, EmptyStateFooter, PageSection, Spinner } from "@patternfly/react-core";
import SearchIcon from "@patternfly/react-icons/dist/esm/icons/search-icon";
import { lazy, Suspense, useCallback, useEffect, useState } from "react";
import { api, onSignedOut } from "./api/client";
import { asProblem, type Problem } from "./api/problem";
import { keyOf, type ServerSettings, type Who } from "./api/types";
import { Frame } from "./layout/Frame";
import { ProblemState } from "./layout/ProblemState";
import { SignIn } from "./layout/SignIn";
import { ListView } from "./list/ListView";
import { LiveContext, useFollowing } from "./live/useLive";
import { Link, paths, routeOf, usePathname } from "./router";
import { SettingsContext } from "./settings";

// What is not needed for the list comes when it is asked for.
const DetailView = lazy(() => import("./detail/DetailView"));
const FormView = lazy(() => import("./form/FormView"));

/** Who is signed in, or what keeps us from knowing. */
type Session =
  | { state: "asking" }
  | { state: "signedOut"; expired: boolean }
  | { state: "failed"; problem: Problem }
  | { state: "signedIn"; who: Who; settings: ServerSettings };

export function App() {
  const [session, setSession] = useState<Session>({ state: "asking" });
  const enter = useCallback(async () => {
    try {
      const [who, settings] = await Promise.all([api.whoAmI(), api.settings()]);
      setSession({ state: "signedIn", who, settings });
    } catch (thrown) {
      const problem = asProblem(thrown);
      setSession((before) =>
        problem.status === 401 ? { state: "signedOut", expired: before.state === "signedIn" } : { state: "failed", problem },
      );
    }
  }, []);
  useEffect(() => {
    onSignedOut(() => setSession((before) => (before.state === "signedIn" ? { state: "signedOut", expired: true } : before)));
    // eslint-disable-next-line react-hooks/set-state-in-effect -- it is set after the answer
    void enter();
  }, [enter]);

  switch (session.state) {
    case "asking":
      return (
        <Bullseye>
          <Spinner aria-label="Loading" />
        </Bullseye>
      );
    case "signedOut":
      return <SignIn expired={session.expired} onSignedIn={enter} />;
    case "failed":
      return <ProblemState problem={session.problem} onRetry={enter} />;
    case "signedIn":
      return (
        <SettingsContext value={session.settings}>
          <SignedIn who={session.who} onSignOut={() => setSession({ state: "signedOut", expired: false })} />
        </SettingsContext>
      );
  }
}

function SignedIn({ who, onSignOut }: { who: Who; onSignOut: () => void }) {
  const store = useFollowing();
  return (
    <LiveContext value={store}>
      <Frame who={who} onSignOut={onSignOut}>
        <Suspense
          fallback={
            <Bullseye>
              <Spinner aria-label="Loading" />
            </Bullseye>
          }
        >
          <View />
        </Suspense>
      </Frame>
    </LiveContext>
  );
}

function View() {
  const route = routeOf(usePathname());
  useEffect(() => {
    document.title = titleOf(route);
  });
  switch (route.view) {
    case "list":
      return <ListView />;
    case "create":
      return <FormView />;
    case "edit":
      return <FormView key={keyOf(route.key)} edited={route.key} />;
    case "detail":
      return <DetailView key={keyOf(route.key)} of={route.key} />;
    case "unknown":
      return (
        <PageSection>
          <EmptyState titleText="There is no such page" icon={SearchIcon} headingLevel="h1">
            <EmptyStateBody>The address may be mistyped, or from another version.</EmptyStateBody>
            <EmptyStateFooter>
              <Link to={paths.list}>All Darkrooms</Link>
            </EmptyStateFooter>
          </EmptyState>
        </PageSection>
      );
  }
}

function titleOf(route: ReturnType<typeof routeOf>): string {
  switch (route.view) {
    case "create":
      return "Create Darkroom";
    case "edit":
      return `Edit ${route.key.name} · Darkrooms`;
    case "detail":
      return `${route.key.name} · Darkrooms`;
    default:
      return "Darkrooms";
  }
}
