import { cleanup } from "@testing-library/react";
import { afterEach } from "vitest";

afterEach(() => {
  if (typeof window !== "undefined") {
    cleanup();
    localStorage.clear();
    history.replaceState(null, "", "/");
  }
});
