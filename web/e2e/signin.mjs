// The browser test of the sign-in at an OIDC issuer. test/e2e/signin_test.go starts it, and
// says by the environment where all is:
//
//   URL              of the API server, over HTTPS
//   SERVER_SOCKETS   Unix sockets that lead to it and to the issuer (forward.mjs)
//   USER, USERNAME   a user of the issuer, and of the cluster
//   DARKROOM         the name of a Darkroom that the user may see
//
// It prints a line "ok - STEP" or "not ok - STEP" for each step, and what went wrong before it.
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

forwardServers();
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"],
});
// The certificates of both servers are their own.
const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ignoreHTTPSErrors: true });
context.setDefaultTimeout(20_000);
const page = await context.newPage();
/** URLs that the browser was sent to, without those of the issuer. */
const visited = /** @type {string[]} */ ([]);
page.on("framenavigated", (frame) => visited.push(frame.url()));

const signIn = async () => {
  await page.getByRole("link", { name: "Sign in with Test issuer" }).click();
  await page.getByLabel("User").fill(env("USER"));
  await page.getByRole("button", { name: "Sign in" }).click();
};

/** @type {[string, () => Promise<void>][]} */
const steps = [
  [
    "signs in at the issuer, and returns to the view that was asked for",
    async () => {
      await page.goto(`${url}/?phase=Ready`);
      await signIn();
      await page.getByRole("button", { name: `Signed in as ${env("USERNAME")}` }).waitFor();
      await page.getByText("staging").first().waitFor();
      assert.equal(page.url(), `${url}/?phase=Ready`);
    },
  ],
  [
    "sees what the user of the cluster may see",
    async () => {
      await page.goto(url);
      await page.getByRole("link", { name: env("DARKROOM"), exact: true }).waitFor();
    },
  ],
  [
    "keeps no token where scripts or the history have it",
    async () => {
      const stored = await page.evaluate(() => [document.cookie, ...Object.values(localStorage), ...Object.values(sessionStorage)].join("\n"));
      assert.doesNotMatch(stored, /eyJ|__Host-/, "a script can read a token");
      for (const seen of visited.filter((seen) => seen.startsWith(url))) {
        assert.doesNotMatch(seen, /eyJ|code=|state=/, "the history has a code or a token");
      }
      for (const { name, httpOnly, secure, sameSite } of await context.cookies(url)) {
        assert(name.startsWith("__Host-") && httpOnly && secure && sameSite !== "None", `the cookie ${name} is not protected`);
      }
    },
  ],
  [
    "signs out, and is nobody then",
    async () => {
      await page.getByRole("button", { name: /^Signed in as/ }).click();
      await page.getByRole("menuitem", { name: "Sign out" }).click();
      // The issuer ends its own session.
      await page.waitForURL((now) => !now.href.startsWith(url));
      await page.goto(url);
      await page.getByRole("link", { name: "Sign in with Test issuer" }).waitFor();
      assert.equal((await page.request.get(`${url}/darkrooms`)).status(), 401);
    },
  ],
];

let failed = false;
try {
  for (const [name, step] of steps) {
    try {
      await step();
      console.log(`ok - ${name}`);
    } catch (error) {
      failed = true;
      console.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
      console.log(`${page.url()} shows: ${await page.locator("body").innerText({ timeout: 5_000 }).catch(String)}`);
      console.log(`not ok - ${name}`);
      break;
    }
  }
} finally {
  await browser.close();
}
process.exitCode = failed ? 1 : 0;
