// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import fc from "fast-check";
import { Suspense, type ReactNode } from "react";
import { beforeEach, expect, test, vi } from "vitest";
import { oddDarkrooms, paths as imagePaths } from "../test/arbitraries";
import type { Darkroom } from "./api/types";
import { Overview } from "./detail/Overview";
import { Playground } from "./detail/Playground";
import History from "./detail/History";
import { Pods } from "./detail/Pods";
import YamlText from "./detail/YamlText";
import DetailView from "./detail/DetailView";
import { Editor } from "./form/Editor";
import { Boundary } from "./layout/Boundary";
import { Freshness } from "./layout/Freshness";
import { ListView } from "./list/ListView";
import { Store } from "./live/store";
import { LiveContext } from "./live/useLive";
import { toInput } from "./model/model";
import { darkroom } from "../test/darkrooms";
import { routeOf } from "./router";

beforeEach(() => {
  vi.stubGlobal("fetch", () => new Promise(() => undefined));
  vi.stubGlobal("IntersectionObserver", class { observe = () => undefined; disconnect = () => undefined });
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }));
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});

/** All views that show a Darkroom. */
const views: Record<string, (of: Darkroom) => ReactNode> = {
  list: () => <ListView />,
  freshness: () => <Freshness />,
  detail: (of) => <DetailView of={of} />,
  overview: (of) => <Overview darkroom={of} access={undefined} />,
  playground: (of) => <Playground darkroom={of} mayFetch />,
  history: (of) => <History darkroom={of} access={undefined} />,
  pods: (of) => <Pods darkroom={of} mayReadLogs />,
  yaml: (of) => <YamlText darkroom={of} />,
  form: (of) => <Editor initial={toInput(of)} loaded={of} />,
};

function show(view: (of: Darkroom) => ReactNode, of: Darkroom) {
  const store = new Store();
  store.connect("live");
  for (const [event, data] of [["reset", {}], ["added", of], ["synced", { items: 1, all: true }]] as const) {
    store.take({ event, data: JSON.stringify(data), id: undefined });
  }
  render(
    <LiveContext value={store}>
      <Boundary>
        <Suspense>{view(of)}</Suspense>
      </Boundary>
    </LiveContext>,
  );
}

const isBroken = () => screen.queryByText("This view cannot be shown") !== null;

test.each(Object.keys(views))("the view %s shows a Darkroom with any status", (name) => {
  fc.assert(
    fc.property(oddDarkrooms, (of) => {
      show(views[name] as (of: Darkroom) => ReactNode, of);
      const broken = isBroken();
      cleanup();
      expect(broken).toBe(false);
    }),
    { numRuns: 25 },
  );
});

test.each(Object.keys(views))("the view %s works without browser storage", (name) => {
  for (const method of ["getItem", "setItem", "removeItem"] as const) {
    vi.spyOn(Storage.prototype, method).mockImplementation(() => {
      throw new DOMException("turned off", "SecurityError");
    });
  }
  show(views[name] as (of: Darkroom) => ReactNode, darkroom());
  cleanup();
  show(views[name] as (of: Darkroom) => ReactNode, darkroom());
  expect(isBroken()).toBe(false);
});

test("the playground shows every prefix of a path while it is typed", () => {
  fc.assert(
    fc.property(oddDarkrooms, imagePaths, (of, path) => {
      show(views["playground"] as (of: Darkroom) => ReactNode, of);
      for (let end = 0; end <= path.length && !isBroken(); end++) {
        fireEvent.change(screen.getByLabelText(/^Path/), { target: { value: path.slice(0, end) } });
      }
      const broken = isBroken();
      cleanup();
      expect(broken).toBe(false);
    }),
    { numRuns: 20 },
  );
});

test("every address has a route", () => {
  fc.assert(fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom("/", "ui", "%ff", "%", "%2F", "edit"))), (parts) => {
    routeOf(`/${parts.join("/")}`);
  }));
});
