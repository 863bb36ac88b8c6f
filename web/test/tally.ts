import { appendFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

/** Adds the counts of a run to the file that TALLY names; see hack/testsum. */
export default class Tally implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const path = process.env["TALLY"];
    if (!path) {
      return;
    }
    const counts = { passed: 0, failed: 0, skipped: 0 };
    for (const module of modules) {
      const tests = [...module.children.allTests()];
      for (const test of tests) {
        const state = test.result().state;
        counts[state === "pending" ? "failed" : state]++;
      }
      // A file that cannot be read has no tests, and is a failure all the same.
      if (tests.length === 0 || (!module.ok() && tests.every((test) => test.ok()))) {
        counts.failed++;
      }
    }
    counts.failed += errors.length;
    appendFileSync(path, JSON.stringify(counts) + "\n");
  }
}
