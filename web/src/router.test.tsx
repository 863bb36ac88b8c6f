// @vitest-environment jsdom
import { act, render, screen } from "@testing-library/react";
import { useRef } from "react";
import { expect, test } from "vitest";
import { navigate, paths, routeOf, useArrival, usePathname } from "./router";

test.each([
  ["/", { view: "list" }],
  ["/ui/create", { view: "create" }],
  ["/ui/hosts", { view: "hosts" }],
  ["/ui/photos/cats", { view: "detail", key: { namespace: "photos", name: "cats" } }],
  ["/ui/photos/cats/edit", { view: "edit", key: { namespace: "photos", name: "cats" } }],
  ["/ui/photos", { view: "unknown" }],
  ["/ui/photos/cats/other", { view: "unknown" }],
  ["/elsewhere", { view: "unknown" }],
])("%s", (path, want) => {
  expect(routeOf(path)).toEqual(want);
});

test("a Darkroom named create in a namespace of that name has its own address", () => {
  const key = { namespace: "create", name: "create" };
  expect(routeOf(paths.detail(key))).toEqual({ view: "detail", key });
});

function View() {
  const pathname = usePathname();
  useArrival(pathname, useRef(pathname));
  return (
    <main id="main" tabIndex={-1}>
      <h1>{pathname}</h1>
    </main>
  );
}

/** Goes back, and waits until the browser has. */
const goBack = () =>
  act(async () => {
    const gone = new Promise((resolve) => window.addEventListener("popstate", resolve, { once: true }));
    history.back();
    await gone;
  });

test("a new view begins at its top with the focus on its heading; Back restores where it was scrolled to", async () => {
  render(<View />);
  const main = screen.getByRole("main");
  main.scrollTop = 700;
  expect(document.activeElement).toBe(document.body);
  act(() => navigate("/ui/photos/cats"));
  expect(main.scrollTop).toBe(0);
  expect(document.activeElement).toBe(screen.getByRole("heading", { name: "/ui/photos/cats" }));
  main.scrollTop = 50;
  await goBack();
  expect(main.scrollTop).toBe(700);
  expect(document.activeElement).toBe(screen.getByRole("heading", { name: "/" }));
});

test("a change of the query moves neither", () => {
  render(<View />);
  const main = screen.getByRole("main");
  main.scrollTop = 700;
  act(() => navigate("/?q=cats", { replace: true }));
  expect(main.scrollTop).toBe(700);
  expect(document.activeElement).toBe(document.body);
});
