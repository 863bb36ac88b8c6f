import { cleanup, configure } from "@testing-library/react";
import { afterEach } from "vitest";

// Against tests that hang, not slow machines.
configure({ asyncUtilTimeout: 30_000 });

// jsdom reports Apple as its vendor, but lacks what CodeMirror calls in Safari.
if (typeof navigator !== "undefined") {
  Object.defineProperty(navigator, "vendor", { value: "", configurable: true });
}

afterEach(() => {
  if (typeof window !== "undefined") {
    cleanup();
    localStorage.clear();
    sessionStorage.clear();
    history.replaceState(null, "", "/");
  }
});
