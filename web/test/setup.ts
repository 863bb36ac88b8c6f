import { cleanup, configure } from "@testing-library/react";
import { afterEach } from "vitest";

// Against tests that hang, not slow machines.
configure({ asyncUtilTimeout: 30_000 });

afterEach(() => {
  if (typeof window !== "undefined") {
    cleanup();
    localStorage.clear();
    sessionStorage.clear();
    history.replaceState(null, "", "/");
  }
});
