import { Alert, AlertActionCloseButton, AlertActionLink, AlertGroup } from "@patternfly/react-core";
import { useEffect, useSyncExternalStore } from "react";
import { asProblem } from "../api/problem";

/** Undoes an action. */
export interface Undo {
  label: string;
  run: () => unknown;
}

interface Toast {
  key: number;
  title: string;
  variant: "success" | "danger";
  undo: Undo | undefined;
}

/** How long a toast is shown, in milliseconds. A toast stays while it is hovered or focused. */
const timeout = 15_000;

/** The current toasts. Users, time and sign-out remove toasts. */
let toasts: readonly Toast[] = [];
let count = 0;
const listeners = new Set<() => void>();

function show(next: readonly Toast[]): void {
  toasts = next;
  listeners.forEach((listener) => listener());
}

const close = (key: number): void => show(toasts.filter((toast) => toast.key !== key));

/** Announces a result above any view. */
export function toast(title: string, undo?: Undo, variant: Toast["variant"] = "success"): void {
  show([...toasts, { key: ++count, title, variant, undo }]);
}

async function revert({ key, undo }: Toast): Promise<void> {
  close(key);
  try {
    await undo?.run();
  } catch (thrown) {
    toast(`Not undone: ${asProblem(thrown).message}`, undefined, "danger");
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  useEffect(() => () => show([]), []);
  return (
    <AlertGroup isToast isLiveRegion aria-label="Messages">
      {shown.map((one) => (
        <Alert
          key={one.key}
          component="p"
          variant={one.variant}
          title={one.title}
          timeout={one.variant === "success" && timeout}
          onTimeout={() => close(one.key)}
          actionClose={<AlertActionCloseButton onClose={() => close(one.key)} />}
          actionLinks={one.undo && <AlertActionLink onClick={() => void revert(one)}>{one.undo.label}</AlertActionLink>}
        />
      ))}
    </AlertGroup>
  );
}
