// Measures what live events cost the list: 2,000 Darkrooms, 35 events per second.
//
//   npm run build && node e2e/load.mjs [seconds]
//
// It prints how much of the main thread tasks of 50 ms or more took, how much CPU time it used, and
// the memory of the scripts after the first fifth, in which caches fill, and at the end.
import { chromium } from "playwright-core";
import { darkroom, startStub } from "./stub.mjs";

const [items, rate] = [2_000, 35];
const seconds = Number(process.argv[2] ?? 15);
const phases = ["Ready", "Ready", "Ready", "Degraded", "Deploying"];
/** @param {number} i @param {number} round */
const make = (i, round) =>
  darkroom({
    name: `room-${String(i).padStart(4, "0")}`,
    namespace: `team-${i % 20}`,
    resourceVersion: String(10 + round),
    status: { phase: phases[(i + round) % phases.length], message: `round ${round}`, readyReplicas: round % 2 },
  });
const stub = await startStub(Array.from({ length: items }, (_, i) => make(i, 0)));
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
});
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(`${stub.url}/?sort=name&per=100`);
  await page.getByRole("grid", { name: "Darkrooms" }).waitFor();
  await page.evaluate(() => {
    Object.assign(window, { long: 0 });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) {
        /** @type {{ long: number }} */ (/** @type {unknown} */ (window)).long += duration;
      }
    }).observe({ type: "longtask" });
  });
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const cpu = async () => {
    const { metrics } = await devtools.send("Performance.getMetrics");
    return ["TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration"].map((wanted) => metrics.find(({ name }) => name === wanted)?.value ?? 0);
  };
  const heap = async () => {
    await devtools.send("HeapProfiler.collectGarbage");
    const { usedSize } = await devtools.send("Runtime.getHeapUsage");
    return `${(usedSize / 2 ** 20).toFixed(1)} MiB`;
  };
  let filled = "";
  const before = await cpu();
  const began = performance.now();
  for (let n = 0; n < seconds * rate; n++) {
    const due = began + (n * 1_000) / rate;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
    stub.emit("modified", make((n * 7) % items, n + 1));
    if (n === Math.floor((seconds * rate) / 5)) {
      filled = await heap();
    }
  }
  // It comes first in any order, and is shown when all others are taken in.
  stub.emit("added", darkroom({ name: "aaa-last", status: { phase: "Failed" } }));
  await page.getByRole("link", { name: "aaa-last", exact: true }).waitFor({ timeout: 120_000 });
  const took = (performance.now() - began) / 1_000;
  const long = await page.evaluate(() => /** @type {{ long: number }} */ (/** @type {unknown} */ (window)).long / 1_000);
  const [all = 0, ...parts] = (await cpu()).map((value, i) => value - (before[i] ?? 0));
  const percent = (/** @type {number} */ part) => `${((100 * part) / took).toFixed(1)} %`;
  const each = (/** @type {number} */ part) => ((1_000 * part) / (seconds * rate)).toFixed(1);
  console.log(
    `${items} Darkrooms, ${rate} events/s for ${seconds} s, taken in after ${took.toFixed(1)} s: ` +
      `long tasks ${percent(long)}, CPU of the main thread ${percent(all)}, ${each(all)} ms per event (script, layout, style: ${parts.map(each).join(", ")}), ` +
      `memory ${filled}, then ${await heap()}`,
  );
} finally {
  await browser.close();
  stub.close();
}
