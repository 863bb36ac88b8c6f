import { Suspense, useCallback, useEffect, useRef, useState } from "react";
import { api, onSignedOut } from "./api/client";
import { asProblem, Problem } from "./api/problem";
import { reads } from "./api/reads";
import { keyOf, type ServerSettings, type Who } from "./api/types";
import { clearDrafts, keepDraftsOf } from "./form/drafts";
import { lazyView, loadInIdleTime } from "./lazyView";
import { Boundary } from "./layout/Boundary";
import { Frame } from "./layout/Frame";
import { Loading } from "./layout/Loading";
import { ProblemState } from "./layout/ProblemState";
import { ListView } from "./list/ListView";
import { LiveContext, useFollowing } from "./live/useLive";
import { Arrival, Link, paths, routeOf, usePathname } from "./router";
import { SettingsContext } from "./settings";

// Views other than the list are loaded in idle time, or when they are opened.
const DetailView = lazyView(() => import("./detail/DetailView"));
const ExplainView = lazyView(() => import("./explain/ExplainView"));
const FormView = lazyView(() => import("./form/FormView"));
const SignIn = lazyView(() => import("./layout/SignIn"));
const SignInDialog = lazyView(() => import("./layout/SignInDialog"));

/** The session, or the reason why it is unknown. */
type Session =
  | { state: "asking" }
  | { state: "signedOut"; expired: boolean }
  | { state: "failed"; problem: Problem }
  | {
      state: "signedIn";
      who: Who;
      settings: ServerSettings;
      /** The session has expired while a form is open. The form stays. */
      expired: boolean;
    };

/** Announces sign-ins to the other tabs, which share the session. */
const tabs = new BroadcastChannel("darkroom-user");

/** Whether the view has a form, whose input must not be lost. */
const hasForm = (): boolean => document.querySelector("form, [role=dialog]") !== null;

export function App() {
  const [session, setSession] = useState<Session>({ state: "asking" });
  /** Requests that were rejected while a form was open. They are sent again after sign-in. */
  const waiting = useRef<((again: boolean) => void)[]>([]);
  const settle = useCallback((again: boolean) => waiting.current.splice(0).forEach((resolve) => resolve(again)), []);
  const signedIn = useRef(false);
  /** The last signed-in user. */
  const user = useRef<string>(undefined);

  const leave = useCallback(
    (expired: boolean) => {
      signedIn.current = false;
      reads.clear();
      setSession({ state: "signedOut", expired });
      settle(false);
    },
    [settle],
  );
  /** Reads the signed-in user. The caller handles errors. */
  const enter = useCallback(async () => {
    const [who, settings] = await Promise.all([
      reads.query({ queryKey: ["session"], queryFn: api.whoAmI }),
      reads.query({ queryKey: ["settings"], queryFn: api.settings }),
    ]);
    const isAnother = user.current !== undefined && user.current !== who.username;
    reads.removeQueries(isAnother ? {} : { type: "inactive" });
    signedIn.current = true;
    user.current = who.username;
    keepDraftsOf(who.username);
    tabs.postMessage(who.username);
    setSession({ state: "signedIn", who, settings, expired: false });
    // Requests of one user are not sent again as another.
    settle(!isAnother);
  }, [settle]);
  /** Enters with the session in the browser. */
  const begin = useCallback(async () => {
    try {
      await enter();
    } catch (thrown) {
      const problem = asProblem(thrown);
      setSession((before) => (before.state === "signedIn" ? { ...before, expired: true } : problem.status === 401 ? { state: "signedOut", expired: false } : { state: "failed", problem }));
    }
  }, [enter]);
  useEffect(() => {
    const follow = ({ data }: MessageEvent) => {
      if (signedIn.current && data !== user.current) {
        void begin();
      }
    };
    tabs.addEventListener("message", follow);
    return () => tabs.removeEventListener("message", follow);
  }, [begin]);
  useEffect(() => {
    onSignedOut(() => {
      if (!signedIn.current) {
        return Promise.resolve(false);
      }
      if (!hasForm()) {
        leave(true);
        return Promise.resolve(false);
      }
      setSession((before) => (before.state === "signedIn" ? { ...before, expired: true } : before));
      return new Promise((resolve) => waiting.current.push(resolve));
    });
    // eslint-disable-next-line react-hooks/set-state-in-effect -- it is set after the response
    void begin();
  }, [begin, leave]);

  switch (session.state) {
    case "asking":
      return <Loading />;
    case "signedOut":
      return (
        <Suspense fallback={<Loading />}>
          <SignIn expired={session.expired} onSignedIn={enter} />
        </Suspense>
      );
    case "failed":
      return <ProblemState problem={session.problem} onRetry={begin} />;
    case "signedIn":
      return (
        <SettingsContext value={session.settings}>
          <SignedIn
            key={session.who.username}
            who={session.who}
            onSignOut={() => {
              clearDrafts();
              leave(false);
            }}
          />
          {session.expired && (
            <Suspense>
              <SignInDialog onSignedIn={enter} onLeave={() => leave(true)} />
            </Suspense>
          )}
        </SettingsContext>
      );
  }
}

function SignedIn({ who, onSignOut }: { who: Who; onSignOut: () => void }) {
  const store = useFollowing();
  useEffect(loadInIdleTime, []);
  return (
    <LiveContext value={store}>
      <Frame who={who} onSignOut={onSignOut}>
        <View />
      </Frame>
    </LiveContext>
  );
}

function View() {
  const pathname = usePathname();
  const route = routeOf(pathname);
  const shown = useRef(pathname);
  return (
    <Boundary key={pathname}>
      <Suspense fallback={<Loading />}>
        <Shown route={route} />
        <Arrival pathname={pathname} shownRef={shown} />
      </Suspense>
    </Boundary>
  );
}

function Shown({ route }: { route: ReturnType<typeof routeOf> }) {
  switch (route.view) {
    case "list":
      return <ListView />;
    case "explain":
      return <ExplainView />;
    case "create":
      return <FormView />;
    case "edit":
      return <FormView key={keyOf(route.key)} edited={route.key} />;
    case "detail":
      return <DetailView key={keyOf(route.key)} of={route.key} />;
    case "unknown":
      return (
        <ProblemState problem={new Problem(404, "Not Found", "There is no such page. Check the address.")}>
          <Link to={paths.list}>All Darkrooms</Link>
        </ProblemState>
      );
  }
}
