// Takes the screenshots of the documents, of a fleet with one thing wrong.
// test/e2e/screenshots_test.go has the fleet and starts this, and says by the environment:
//
//   URL              of the API server
//   SERVER_SOCKETS   Unix sockets that lead there (forward.mjs); none: the URL does
//   TOKEN            of a user who may edit the Darkrooms
//   COLLEAGUE        the token of another, who may edit those of the namespace photos
//   SCREENSHOTS      the folder that they are written to
//
// It prints a line "ok - STEP" or "not ok - STEP" for each step, and what went wrong before it.
import { mkdir, stat } from "node:fs/promises";
import { strict as assert } from "node:assert";
import { chromium } from "playwright-core";
import { forwardServers } from "./forward.mjs";

/** @param {string} name */
const env = (name) => {
  const value = process.env[name];
  assert(value, `${name} is not set`);
  return value;
};
const url = env("URL");
/** For how long something may take that takes seconds, in milliseconds. */
const patience = 120_000;
/** The most that a document should make people load for one of them, in bytes. */
const maxSize = 150_000;

forwardServers();
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"],
});
const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
context.setDefaultTimeout(20_000);
const page = await context.newPage();

/** @param {string} name @param {number} [height] */
async function shoot(name, height = 800) {
  await page.setViewportSize({ width: 1280, height });
  await page.mouse.move(0, 0);
  await page.evaluate(() => {
    /** @type {HTMLElement} */ (document.activeElement).blur();
    document.getElementById("main")?.scrollTo(0, 0);
  });
  const path = `${env("SCREENSHOTS")}/page-${name}.png`;
  await page.screenshot({ path });
  const { size } = await stat(path);
  assert(size <= maxSize, `${path} has ${size} bytes`);
}

/** Changes a Darkroom, as in another tab. @param {string} path @param {unknown} body @param {string} token */
async function patch(path, body, token = env("TOKEN")) {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/merge-patch+json", "If-Match": "*" };
  const response = await fetch(`${url}/darkrooms/${path}`, { method: "PATCH", headers, body: JSON.stringify(body) });
  assert(response.ok, `${path}: ${response.status} ${await response.text()}`);
}

/** Waits until an image was loaded. @param {import("playwright-core").Locator} img */
async function loaded(img) {
  await img.waitFor({ timeout: patience });
  await img.evaluate((/** @type {HTMLImageElement} */ one) => one.decode());
}

/** @type {[string, () => Promise<void>][]} */
const steps = [
  [
    "the list, with one Darkroom that needs attention",
    async () => {
      await patch("editorial/press", { source: { bucket: "photo" } });
      await patch("photos/travel", { replicas: 3 });
      await page.goto(url);
      await page.getByLabel("Token").fill(env("TOKEN"));
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("group", { name: "Needs attention" }).waitFor({ timeout: patience });
      await page.getByRole("button", { name: /^Ready 7/ }).waitFor({ timeout: patience });
      // Images are requested once their rows are in view.
      await page.waitForFunction(
        () => {
          const edge = document.getElementById("main")?.getBoundingClientRect().bottom ?? 0;
          const inView = [...document.querySelectorAll(".dr-thumbnail")].filter((box) => box.getBoundingClientRect().top < edge);
          return inView.length > 0 && inView.every((box) => box.querySelector("img"));
        },
        undefined,
        { timeout: patience },
      );
      await shoot("list");
    },
  ],
  [
    "a Darkroom that is ready",
    async () => {
      await page.getByRole("link", { name: "travel", exact: true }).click();
      await loaded(page.getByRole("img", { name: "/uploads/coast.jpg" }));
      await page.getByText("Ready · 3 pods").waitFor({ timeout: patience });
      await page.getByText(/checked \d+s ago/).waitFor();
      await shoot("overview");
    },
  ],
  [
    "a Darkroom that needs attention",
    async () => {
      await page.goto(`${url}/ui/editorial/press`);
      await page.getByRole("button", { name: "Roll back to revision 1" }).waitFor({ timeout: patience });
      await loaded(page.getByRole("img", { name: "/uploads/night.jpg" }));
      await shoot("problem");
    },
  ],
  [
    "the playground",
    async () => {
      await page.goto(`${url}/ui/photos/travel?tab=playground`);
      await page.locator("#image-w").fill("300");
      await page.locator("#image-h").fill("300");
      await page.locator("#image-fit").selectOption("crop");
      await loaded(page.getByRole("img", { name: "/uploads/coast.jpg, original" }));
      await page.getByText("300 × 300").waitFor();
      await shoot("playground", 880);
    },
  ],
  [
    "the history",
    async () => {
      await patch("photos/travel", { logLevel: "debug" }, env("COLLEAGUE"));
      await page.goto(`${url}/ui/photos/travel?tab=history`);
      await page.getByText("replicas 2 → 3", { exact: false }).waitFor({ timeout: patience });
      await page.getByText("logLevel", { exact: false }).waitFor({ timeout: patience });
      await page.getByText("Superseded").nth(1).waitFor({ timeout: patience });
      await page.getByRole("status", { name: "Phase" }).getByText("Ready", { exact: true }).waitFor({ timeout: patience });
      await shoot("history", 560);
    },
  ],
  [
    "three questions to a new Darkroom",
    async () => {
      await page.goto(`${url}/ui/create`);
      await page.getByLabel("Base URL").fill("https://images.example.com");
      await page.getByLabel("Image to check with").fill("/menu/pasta.jpg");
      await page.locator("#field-name").fill("recipes");
      await page.getByText("at recipes.", { exact: false }).waitFor();
      await shoot("create", 900);
      await page.getByRole("button", { name: "Cancel" }).click();
    },
  ],
  [
    "the review of a change, and a conflict",
    async () => {
      await page.goto(`${url}/ui/shop/catalog/edit`);
      await page.getByRole("button", { name: "Number of pods: increase" }).click();
      await page.getByRole("button", { name: /^Review/ }).click();
      await page.getByRole("heading", { name: "Review changes" }).waitFor();
      await shoot("review", 900);
      await page.getByRole("button", { name: "Back" }).click();
      await patch("shop/catalog", { replicas: 5, logLevel: "debug" });
      await page.getByRole("button", { name: /^Review/ }).click();
      await page.getByText("Another user changed the same fields").waitFor();
      await shoot("conflict", 560);
    },
  ],
];

let failed = false;
try {
  await mkdir(env("SCREENSHOTS"), { recursive: true });
  for (const [name, step] of steps) {
    const began = Date.now();
    try {
      await step();
      console.log(`ok - ${name} (${Date.now() - began} ms)`);
    } catch (error) {
      failed = true;
      console.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
      console.log(`${page.url()} shows: ${await page.locator("body").innerText()}`);
      console.log(`not ok - ${name}`);
      break;
    }
  }
} finally {
  await browser.close();
}
process.exitCode = failed ? 1 : 0;
