// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";
import { navigate } from "../router";
import { sequences, submitKeys } from "./keys";
import { setSingleKeys, useKeyHint } from "./setting";
import ShortcutsDialog from "./ShortcutsDialog";
import { useShortcuts } from "./useShortcuts";

const help = vi.fn();
const edit = vi.fn();
const submit = vi.fn();

beforeEach(() => {
  [help, edit, submit].forEach((mock) => mock.mockReset());
  setSingleKeys(true);
  navigate("/ui/photos/cats");
});

function Page({ mayEdit = true, dialog = false }: { mayEdit?: boolean; dialog?: boolean }) {
  useShortcuts(help);
  return (
    <main id="main">
      <input aria-label="Search" defaultValue="cats" aria-keyshortcuts={useKeyHint("/")} />
      <input aria-label="Choice" type="checkbox" />
      <textarea aria-label="Text" />
      <div aria-label="Editor" contentEditable suppressContentEditableWarning tabIndex={0}>
        <span>line</span>
      </div>
      <button type="button" aria-keyshortcuts={useKeyHint("e")} aria-disabled={!mayEdit} onClick={edit}>
        Edit
      </button>
      <button type="button" aria-keyshortcuts={submitKeys} onClick={submit}>
        Save
      </button>
      {dialog && <div role="dialog" aria-label="Open" />}
    </main>
  );
}

const press = (key: string, more: Partial<KeyboardEvent> = {}, at: Element = document.body) => fireEvent.keyDown(at, { key, ...more });

test("single keys act", () => {
  render(<Page />);
  press("?", { shiftKey: true });
  expect(help).toHaveBeenCalledOnce();
  press("e");
  expect(edit).toHaveBeenCalledOnce();
  press("n");
  expect(location.pathname).toBe("/ui/create");
  press("g");
  press("h");
  expect(location.pathname).toBe("/ui/hosts");
  press("g");
  press("l");
  expect(location.pathname).toBe("/");
  press("/");
  expect(document.activeElement).toBe(screen.getByLabelText("Search"));
});

test("the slash is not typed into the field that it focuses", async () => {
  const user = userEvent.setup();
  render(<Page />);
  await user.keyboard("/");
  await user.keyboard("d/n");
  expect(screen.getByLabelText<HTMLInputElement>("Search").value).toBe("d/n");
  expect(location.pathname).toBe("/ui/photos/cats");
});

test.each(["Search", "Text", "Editor"])("keys that are typed into the field %s do nothing else", (name) => {
  render(<Page />);
  const field = screen.getByLabelText(name);
  press("e", {}, field.firstElementChild ?? field);
  press("?", {}, field);
  expect(edit).not.toHaveBeenCalled();
  expect(help).not.toHaveBeenCalled();
});

test("a field in a shadow root takes its keys", () => {
  render(<Page />);
  const host = document.getElementById("main")?.appendChild(document.createElement("div"));
  const field = host?.attachShadow({ mode: "open" }).appendChild(document.createElement("textarea"));
  field?.dispatchEvent(new KeyboardEvent("keydown", { key: "e", bubbles: true, composed: true }));
  expect(edit).not.toHaveBeenCalled();
  field?.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true, composed: true }));
  expect(submit).toHaveBeenCalledOnce();
});

test("a checkbox takes no characters", () => {
  render(<Page />);
  press("e", {}, screen.getByLabelText("Choice"));
  expect(edit).toHaveBeenCalledOnce();
});

test("nothing happens with modifiers, in dialogs, or while a key is held", () => {
  const { rerender } = render(<Page />);
  for (const modifier of ["ctrlKey", "metaKey", "altKey", "repeat", "isComposing"] as const) {
    press("e", { [modifier]: true });
  }
  press("E", { shiftKey: true });
  rerender(<Page dialog />);
  press("e");
  press("Enter", { ctrlKey: true });
  expect(edit).not.toHaveBeenCalled();
  expect(submit).not.toHaveBeenCalled();
});

test("what may not be edited is not", () => {
  render(<Page mayEdit={false} />);
  press("e");
  expect(edit).not.toHaveBeenCalled();
});

test("Ctrl+Enter and Command+Enter press the main button, also from within a field", () => {
  render(<Page />);
  press("Enter", { ctrlKey: true }, screen.getByLabelText("Text"));
  press("Enter", { metaKey: true });
  press("Enter", {}, screen.getByLabelText("Text"));
  press("Enter", { ctrlKey: true, shiftKey: true });
  expect(submit).toHaveBeenCalledTimes(2);
});

test("the second key of a sequence comes soon, and anything else begins again", () => {
  let now = 0;
  const { press: next, forget } = sequences(() => now);
  expect(["g", "l", "l"].map(next)).toEqual(["g", "g l", "l"]);
  next("g");
  now += 1500;
  expect(next("h")).toBe("h");
  next("g");
  forget();
  expect(next("l")).toBe("l");
});

test("single keys are turned off, which is remembered; others still work", async () => {
  const user = userEvent.setup();
  const { unmount } = render(<ShortcutsDialog onClose={() => undefined} />);
  expect(screen.getByText("Create a Darkroom")).toBeTruthy();
  await user.click(screen.getByRole("switch", { name: "Shortcuts of single characters" }));
  expect(screen.queryByText("Create a Darkroom")).toBeNull();
  expect(screen.getByText("Review changes, or save them")).toBeTruthy();
  unmount();
  expect(localStorage.getItem("darkroom-single-keys")).toBe("off");
  render(<Page />);
  press("e");
  press("?");
  press("Enter", { ctrlKey: true });
  expect(edit).not.toHaveBeenCalled();
  expect(help).not.toHaveBeenCalled();
  expect(submit).toHaveBeenCalledOnce();
  expect(screen.getByText("Edit").getAttribute("aria-keyshortcuts")).toBeNull();
});
