// Compares the views of the page with the screenshots in docs/images/views: light, dark, and as
// on a phone. The server is the stub and the clock is stopped, so that nothing in them varies.
//
//   npm run build && node e2e/views.mjs            compares
//   npm run build && node e2e/views.mjs --update   takes the screenshots again
//
//   SCREENSHOTS   a folder for the screenshots that differ, each with its difference
//
// It prints a line "ok - VIEW" or "not ok - VIEW" for each view. Text is drawn differently by
// another major version of Chromium and with other fonts. Then it prints "skip - REASON".
import { strict as assert } from "node:assert";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { chromium } from "playwright-core";
import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";
import { darkroom, startStub } from "./stub.mjs";

const folder = join(import.meta.dirname, "../../docs/images/views");
const isUpdate = process.argv.includes("--update");
const differences = process.env["SCREENSHOTS"];
/** The part of the pixels that may differ: edges of letters do between machines. */
const tolerance = 0.002;
const looks = /** @type {const} */ ([
  { look: "light", scheme: "light", width: 1280 },
  { look: "dark", scheme: "dark", width: 1280 },
  { look: "phone", scheme: "light", width: 360 },
]);

const now = "2026-01-02T12:00:00Z";
/** @param {number} minutes */
const ago = (minutes) => new Date(Date.parse(now) - minutes * 60_000).toISOString();
/** @param {string} status @param {string} reason @param {string} message @param {number} minutes */
const source = (status, reason, message, minutes) => [{ type: "SourceReady", status, reason, message, lastTransitionTime: ago(minutes) }];
const probe = { path: "/images/cat.jpg" };
const stub = await startStub([
  darkroom({ name: "album", createdAt: ago(900), labels: { team: "web" }, probe, status: { conditions: source("True", "ImageServed", "The image is served.", 300) } }),
  darkroom({
    name: "archive",
    createdAt: ago(40_000),
    source: { type: "S3", bucket: "archive", region: "eu-west-2", credentials: "secretRef", credentialsSecretRef: { name: "keys" } },
    probe,
    status: { phase: "Degraded", message: "The source has no image /images/cat.jpg (HTTP 404).", conditions: source("False", "ImageNotFound", "The source has no image.", 12) },
  }),
  darkroom({ name: "shop", namespace: "shop", createdAt: ago(5), replicas: 3, status: { phase: "Deploying", message: "1 of 3 pods are ready.", replicas: 3, readyReplicas: 1 } }),
]);

/** @typedef {import("playwright-core").Page} Page */
/** @type {Record<string, (page: Page) => Promise<void>>} Opens each view. */
const views = {
  list: async (page) => {
    await page.goto(stub.url);
    await page.getByText("Image not served for 12m").waitFor();
    // On a phone its row is not in view.
    if (page.viewportSize()?.width === 1280) {
      await page.getByText(/ago in \d+ ms/).waitFor();
    }
  },
  hosts: async (page) => {
    await page.goto(`${stub.url}/ui/hosts`);
    await page.getByText("album.darkroom.example.com").first().waitFor();
  },
  overview: async (page) => {
    await page.goto(`${stub.url}/ui/photos/album`);
    await page.getByText(/ago in \d+ ms/).waitFor();
    await page.getByText("No pods").waitFor();
    await page.getByText("64 × 48").waitFor();
  },
  create: async (page) => {
    await page.goto(`${stub.url}/ui/create`);
    await page.getByLabel("Base URL").waitFor();
  },
  yaml: async (page) => {
    await page.goto(`${stub.url}/ui/photos/archive/edit`);
    await page.getByRole("tab", { name: "YAML" }).click();
    await page.getByRole("textbox", { name: "Resource" }).getByText("keys").waitFor();
  },
  review: async (page) => {
    await page.goto(`${stub.url}/ui/photos/album/edit`);
    await page.getByRole("button", { name: "Number of pods: increase" }).click();
    await page.getByRole("button", { name: "Review changes" }).click();
    await page.getByRole("heading", { name: "Review changes" }).waitFor();
  },
};

const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--font-render-hinting=none", "--disable-lcd-text"],
});

/** What text looks like here: the version of Chromium, and the widths of a text in the fonts of the page. @param {Page} page */
async function environment(page) {
  await page.goto(stub.url);
  const widths = await page.evaluate(() => {
    const context = document.createElement("canvas").getContext("2d");
    const style = getComputedStyle(document.documentElement);
    return ["body", "mono"].map((font) => {
      if (context) {
        context.font = `100px ${style.getPropertyValue(`--pf-t--global--font--family--${font}`)}`;
      }
      return Math.round(context?.measureText("Darkrooms serve images: 0123456789").width ?? 0);
    });
  });
  return JSON.stringify({ chromium: browser.version().split(".")[0], widths });
}

/** @param {string} file @param {Buffer} taken */
async function compare(file, taken) {
  const want = PNG.sync.read(await readFile(join(folder, file)));
  const got = PNG.sync.read(taken);
  assert.deepEqual([got.width, got.height], [want.width, want.height], `${file}: another size`);
  const difference = new PNG({ width: want.width, height: want.height });
  const part = pixelmatch(want.data, got.data, difference.data, want.width, want.height, { threshold: 0.1 }) / (want.width * want.height);
  if (part > tolerance && differences) {
    await mkdir(differences, { recursive: true });
    await writeFile(join(differences, file), taken);
    await writeFile(join(differences, file.replace(".png", "-difference.png")), PNG.sync.write(difference));
  }
  assert(part <= tolerance, `${file}: ${(part * 100).toFixed(2)} % of the pixels differ, of at most ${tolerance * 100} %`);
}

/** @param {string} view @param {(page: Page) => Promise<void>} open */
async function check(view, open) {
  for (const { look, scheme, width } of looks) {
    const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme: scheme, reducedMotion: "reduce", locale: "en-US", timezoneId: "UTC" });
    try {
      context.setDefaultTimeout(60_000);
      const page = await context.newPage();
      await page.clock.setFixedTime(now);
      // Images arrive in no time.
      await page.addInitScript(() => Object.assign(performance, { now: () => 0 }));
      await open(page);
      await page.waitForFunction(() => !document.querySelector(".pf-v6-c-spinner, .pf-v6-c-skeleton"));
      await page.mouse.move(0, 0);
      await page.evaluate(() => /** @type {HTMLElement | null} */ (document.activeElement)?.blur());
      const taken = await page.screenshot({ animations: "disabled" });
      const file = `${view}-${look}.png`;
      await (isUpdate ? writeFile(join(folder, file), taken) : compare(file, taken));
    } finally {
      await context.close();
    }
  }
}

try {
  const page = await browser.newPage();
  const here = await environment(page);
  await page.close();
  if (isUpdate) {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "environment.json"), here + "\n");
  }
  const there = (await readFile(join(folder, "environment.json"), "utf8")).trim();
  if (here !== there) {
    console.log(`skip - text is drawn differently here: ${here}, the screenshots were taken with ${there}`);
  } else {
    for (const [view, open] of Object.entries(views)) {
      try {
        await check(view, open);
        console.log(`ok - ${view}`);
      } catch (error) {
        process.exitCode = 1;
        console.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
        console.log(`not ok - ${view}`);
      }
    }
  }
} finally {
  await browser.close();
  stub.close();
}
