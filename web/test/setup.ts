import { cleanup, configure } from "@testing-library/react";
import { afterEach } from "vitest";
import { reads } from "../src/api/reads";

// A limit for tests that hang, not for slow machines.
configure({ asyncUtilTimeout: 30_000 });

// jsdom reports Apple as its vendor, but lacks what CodeMirror calls in Safari.
if (typeof navigator !== "undefined") {
  Object.defineProperty(navigator, "vendor", { value: "", configurable: true });
}
if (typeof Element !== "undefined") {
  // Browsers return a promise, which an effect must not.
  Object.assign(Element.prototype, { scrollIntoView: () => Promise.resolve() });
}
// Nothing has a size in jsdom, so no size ever changes.
const none = () => undefined;
Object.assign(globalThis, { ResizeObserver: class { observe = none; unobserve = none; disconnect = none } });
// jsdom does not lay out text either, which CodeMirror measures.
if (typeof Range !== "undefined") {
  Range.prototype.getClientRects = () => [] as unknown as DOMRectList;
}

afterEach(() => {
  reads.clear();
  if (typeof window !== "undefined") {
    cleanup();
    localStorage.clear();
    sessionStorage.clear();
    history.replaceState(null, "", "/");
  }
});
