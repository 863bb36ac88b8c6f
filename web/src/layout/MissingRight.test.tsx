// @vitest-environment jsdom
import { render, screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { darkroom } from "../../test/darkrooms";
import { Events } from "../detail/Events";
import { FirstImage } from "../detail/FirstImage";
import { Playground } from "../detail/Playground";
import { PodLog } from "../detail/PodLog";
import { Pods } from "../detail/Pods";

const forbidden = { title: "Forbidden", status: 403, detail: 'user "x" may not do this' };

test.each([
  ["pods", <Pods key="" darkroom={darkroom()} mayReadLogs />, "list pods", "view"],
  ["events", <Events key="" darkroom={darkroom()} />, "list events", "view"],
  ["log", <PodLog key="" of={darkroom()} hasRestarted={false} hasGate={false} pod="cats-1" />, "get pods/log", "darkroom-page-viewer"],
  ["image", <FirstImage key="" darkroom={darkroom({ probe: { path: "/cat.jpg" } })} access={undefined} round={0} />, "get services/proxy", "darkroom-page-viewer"],
  ["playground", <Playground key="" darkroom={darkroom()} mayFetch={false} />, "get services/proxy", "darkroom-page-viewer"],
])("without the right to it, %s names the right and a role that grants it", async (_, view, right, role) => {
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(JSON.stringify(forbidden), { status: 403 })));
  render(view);
  expect(await screen.findByText(right)).toBeTruthy();
  expect(screen.getByText(role)).toBeTruthy();
  expect(screen.getByText("photos")).toBeTruthy();
  expect(screen.queryByText(/may not do this/)).toBeNull();
});
