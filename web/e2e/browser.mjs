// The browser test: what people do on the page, in a real browser against a real
// cluster. test/e2e/page_test.go starts it, and says by the environment where all is:
//
//   URL                          of the API server
//   SERVER_SOCKETS               Unix sockets that lead there (forward.mjs); none: the URL does
//   NAMESPACE                    of the test
//   EDITOR_TOKEN, VIEWER_TOKEN   of somebody who may do everything there, or look alone
//   LATE_TOKEN, LATE_NAMESPACE   of somebody who may look there, and do everything in another namespace
//   STRANGER_TOKEN               of somebody who may do nothing
//   FOLDER_URL                   a web folder
//   S3_ENDPOINT, S3_BUCKET, S3_REGION, S3_SECRET
//   PICTURE                      path of an image that both sources have, 1200 pixels wide
//   BASE_DOMAIN
//   SCREENSHOTS                  a folder; none: no screenshots are taken
//
// It prints a line "ok - STEP" or "not ok - STEP" for each step, and what went wrong
// before it. Steps build on those before them: after a failure it ends.
import { mkdir } from "node:fs/promises";
import { strict as assert } from "node:assert";
import { AxeBuilder } from "@axe-core/playwright";
import { chromium } from "playwright-core";
import page from "../package.json" with { type: "json" };
import { forwardServers } from "./forward.mjs";

/** @param {string} name */
const env = (name) => {
  const value = process.env[name];
  assert(value, `${name} is not set`);
  return value;
};
const url = env("URL");
const namespace = env("NAMESPACE");
const image = env("PICTURE");
const screenshots = process.env["SCREENSHOTS"];
/** For how long something may take that takes seconds, in milliseconds. */
const patience = 60_000;

const servers = forwardServers();
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"],
});

/** What the browser complained of: scripts that failed, and what the policy kept from loading. */
const complaints = /** @type {string[]} */ ([]);
/** Requests that got no answer. Those that a page no longer needs are among them. */
const unanswered = /** @type {string[]} */ ([]);

/** A person who has opened the page. */
async function newcomer() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, permissions: ["clipboard-read", "clipboard-write"] });
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("crash", () => complaints.push(`${page.url()} crashed`));
  page.on("requestfailed", (request) => unanswered.push(`${request.method()} ${request.url()}: ${request.failure()?.errorText}`));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) {
      complaints.push(message.text());
    }
  });
  await page.goto(url);
  return page;
}

/** Has the browser abort the first request for each of some addresses, as when the network changes. */
async function interrupt(/** @type {Page} */ page, /** @type {string[]} */ ...addresses) {
  await Promise.all(addresses.map((address) => page.route(address, (route) => route.abort("failed"), { times: 1 })));
}

/**
 * Has a page keep how far its layout shifts, and what moves, other than after a click.
 * @param {Page} page
 * @param {boolean} buffered whether what happened since it was loaded counts
 */
async function watchShifts(page, buffered) {
  await page.evaluate((buffered) => {
    const shifts = /** @type {unknown[]} */ ([]);
    Object.assign(window, { shifts });
    new PerformanceObserver((list) => {
      for (const entry of /** @type {any[]} */ (list.getEntries())) {
        if (!entry.hadRecentInput) {
          const moved = /** @type {{ node?: Element }[]} */ (entry.sources).map(({ node }) => node?.className ?? node?.nodeName);
          shifts.push({ value: entry.value, moved: moved.slice(0, 3) });
        }
      }
    }).observe({ type: "layout-shift", buffered });
  }, buffered);
}

/** Fails if a page that is watched has shifted its layout. @param {Page} page @param {string} when */
async function assertNoShifts(page, when) {
  const shifts = await page.evaluate(() => /** @type {{ value: number }[]} */ (/** @type {any} */ (window).shifts));
  const shift = shifts.reduce((sum, { value }) => sum + value, 0);
  assert(shift < 0.1, `the layout shifts by ${shift} ${when}: ${JSON.stringify(shifts)}`);
}

/** @param {string} token */
async function person(token) {
  const page = await newcomer();
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Darkrooms", exact: true }).waitFor();
  return page;
}

/**
 * The API, as a program uses it.
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @param {Record<string, string>} [headers]
 */
async function rest(method, path, body, headers = {}) {
  const response = await fetch(url + path, {
    method,
    headers: { Authorization: `Bearer ${env("EDITOR_TOKEN")}`, "Content-Type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  assert(response.ok, `${method} ${path} answers ${response.status}: ${text}`);
  return text === "" ? undefined : /** @type {any} */ (JSON.parse(text));
}

/** @typedef {import("playwright-core").Page} Page */

/** What a view must be fine as. */
const looks = /** @type {const} */ ([
  { scheme: "light", width: 1280 },
  { scheme: "dark", width: 360 },
]);

/**
 * Looks at a view light and wide, dark and narrow.
 * @param {Page} page
 * @param {string} name
 * @param {() => Promise<void>} [arrange] is called once the view has a width
 */
async function inspect(page, name, arrange) {
  for (const { scheme, width } of looks) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    await page.setViewportSize({ width, height: 800 });
    await arrange?.();
    await page.mouse.move(0, 0);
    // Colors that are on their way from light to dark have no contrast.
    await page.evaluate(() =>
      Promise.allSettled(
        document
          .getAnimations()
          .filter((animation) => animation instanceof CSSTransition)
          .map((transition) => transition.finished),
      ),
    );
    // Tabs get their buttons a moment after the width has changed.
    await page
      .waitForFunction(() => [document.documentElement, document.querySelector("main")].every((element) => !element || element.scrollWidth <= element.clientWidth), undefined, { timeout: 2_000 })
      .catch(() => undefined);
    const wide = await page.evaluate(() =>
      [document.documentElement, document.querySelector("main")].map((element) => element && element.scrollWidth - element.clientWidth),
    );
    // The elements that are wider than the page, outside of boxes that scroll by themselves.
    const widest = await page.evaluate(() =>
      [...document.querySelectorAll("main *")]
        .filter((element) => element.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
        .slice(0, 4)
        .map((element) => `${element.tagName}.${element.className}`),
    );
    assert(
      wide.every((over) => !over || over <= 0),
      `${name}, ${width} px wide: it scrolls sideways by ${wide.join(" and ")} px: ${widest.join(", ")}`,
    );
    // Boxes inside of a dialog may scroll, such as commands; what else is beyond its edge is cut off.
    const clipped = await page.evaluate(() => {
      const dialog = document.querySelector("[role=dialog]");
      if (!dialog) {
        return [];
      }
      const edge = dialog.getBoundingClientRect();
      const scrolls = (/** @type {Element} */ element) => {
        for (let at = element.parentElement; at && at !== dialog; at = at.parentElement) {
          if (!at.matches(".pf-v6-c-modal-box__body") && ["auto", "scroll"].includes(getComputedStyle(at).overflowX)) {
            return true;
          }
        }
        return false;
      };
      const beyond = [...dialog.querySelectorAll(":not(.pf-v6-screen-reader)")].filter((element) => {
        const { left, right, width } = element.getBoundingClientRect();
        return width > 1 && (left < edge.left - 1 || right > edge.right + 1) && !scrolls(element);
      });
      const outside = edge.left < -1 || edge.top < -1 || edge.right > innerWidth + 1 || edge.bottom > innerHeight + 1;
      return [...(outside ? ["the dialog itself"] : []), ...beyond.slice(0, 4).map((element) => `${element.tagName}.${element.className}`)];
    });
    assert.deepEqual(clipped, [], `${name}, ${width} px wide: cut off in the dialog`);
    const twice = await page.evaluate(() => {
      const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
      return ids.filter((id, at) => ids.indexOf(id) !== at);
    });
    assert.deepEqual(twice, [], `${name}: ids that several elements have`);
    const { violations } = await new AxeBuilder({ page }).analyze();
    // PatternFly puts open menus and tooltips outside of all landmarks; what opened them refers to them.
    const bad = violations.filter(({ id, nodes }) => id !== "region" || nodes.some(({ html }) => !html.includes("data-popper-")));
    assert.equal(
      bad.length,
      0,
      `${name}, ${scheme}, ${width} px: ` + bad.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`).join("\n"),
    );
    if (screenshots) {
      await page.screenshot({ path: `${screenshots}/${name}-${scheme}-${width}.png` });
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 800 });
}

/** A view that was opened has the focus at its heading, not nowhere. @param {Page} page @param {string} heading */
async function assertArrived(page, heading) {
  await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
  await page.waitForFunction(() => document.activeElement?.matches("h1, #main"), undefined, { timeout: 5_000 });
}

/**
 * Waits until an element is in its place.
 * @param {import("playwright-core").Locator} element
 * @param {(box: { x: number, y: number, width: number, height: number }) => boolean} isThere
 * @param {string} what
 */
async function settles(element, isThere, what) {
  await element.waitFor();
  const deadline = Date.now() + 5_000;
  for (;;) {
    const box = await element.boundingBox();
    if (box && isThere(box)) {
      return;
    }
    assert(Date.now() < deadline, `${what} at ${JSON.stringify(box)}`);
    await element.page().waitForTimeout(100);
  }
}

/** Waits until what has the focus is in view, above the foot of the form. @param {Page} page */
const aboveFoot = (page) =>
  page.waitForFunction(
    () => {
      const [field, foot] = [document.activeElement, document.querySelector(".dr-actions")].map((element) => element?.getBoundingClientRect());
      return document.activeElement !== document.body && field && foot && field.top >= 0 && field.bottom <= foot.top;
    },
    undefined,
    { timeout: 5_000 },
  );

/** @param {Page} page @param {string} phase */
const waitPhase = (page, phase) =>
  page.getByRole("status", { name: "Phase" }).getByText(phase, { exact: true }).waitFor({ timeout: patience });

/**
 * Opens a part of the overview that is folded, unless it opened by itself.
 * @param {Page} page @param {string | RegExp} name
 */
async function unfold(page, name) {
  const button = page.getByRole("button", { name });
  await button.waitFor();
  if ((await button.getAttribute("aria-expanded")) === "false") {
    await button.click();
  }
}

/**
 * Asks the playground until the Darkroom answers with an image: its pods may have changed
 * a moment ago.
 * @param {Page} page @param {string} width
 */
async function fetchImage(page, width) {
  await page.getByRole("tab", { name: "Playground" }).click();
  await page.locator("#image-path").fill(image);
  await page.getByRole("button", { name: "Reset" }).click();
  await page.locator("#image-w").fill(width);
  const after = page.getByRole("img", { name: `${image}, result` });
  const deadline = Date.now() + patience;
  for (;;) {
    const again = page.getByRole("button", { name: "Try again" }).first();
    if (await again.isVisible()) {
      await again.click();
    }
    const shown = async (/** @type {import("playwright-core").Locator} */ img) => ((await img.isVisible()) ? img.evaluate((one) => /** @type {HTMLImageElement} */ (one).naturalWidth) : 0);
    if ((await shown(after)) === Number(width) && (await shown(page.getByRole("img", { name: `${image}, original` }))) > 0) {
      break;
    }
    assert(Date.now() < deadline, `no image: ${await page.locator("main").innerText()}`);
    await page.waitForTimeout(500);
  }
  return {
    before: await page.getByRole("img", { name: `${image}, original` }).evaluate((image) => /** @type {HTMLImageElement} */ (image).naturalWidth),
    after: await after.evaluate((image) => /** @type {HTMLImageElement} */ (image).naturalWidth),
  };
}

/** @param {Page} page */
async function addSubDomain(page, /** @type {string} */ name) {
  await page.getByLabel("Sub-domain", { exact: true }).fill(name);
  await page.getByText(`${name}.${env("BASE_DOMAIN")}`).first().waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: `Remove ${name}` }).waitFor();
}

/**
 * Copies the srcset of a preset, and loads each candidate: an image of 1200 pixels has them, and each is as large as it says.
 * @param {Page} page
 * @param {string} preset
 * @param {string[]} descriptors
 */
async function checkSrcset(page, preset, descriptors) {
  await page.getByRole("button", { name: preset, exact: true }).click();
  await page.getByRole("button", { name: /^(Copy|Copied)/ }).first().click();
  await page.getByRole("menuitem", { name: "srcset" }).click();
  await page.getByText("Copied srcset").waitFor();
  const html = await page.evaluate(() => navigator.clipboard.readText());
  const candidates = (/ srcset="([^"]*)"/.exec(html)?.[1] ?? "").replaceAll("&amp;", "&").split(", ").map((text) => text.split(" "));
  assert.deepEqual(candidates.map(([, descriptor]) => descriptor), descriptors);
  const first = candidates[0]?.[0] ?? "";
  const size = async (/** @type {string} */ address) =>
    page.evaluate(
      async ([base, query, path]) => {
        const bitmap = await createImageBitmap(await (await fetch(`${base}?path=${encodeURIComponent(path ?? "")}&${query}`)).blob());
        return [bitmap.width, bitmap.height];
      },
      [`/darkrooms/${namespace}/album/image`, new URL(address).search.slice(1), image],
    );
  const [width = 0, height = 0] = await size(first);
  for (const [address = "", descriptor = ""] of candidates) {
    const n = Number(descriptor.slice(0, -1));
    const found = await size(address);
    assert.deepEqual(found, descriptor.endsWith("w") ? [n, found[1]] : [width * n, height * n], `${address} is not ${descriptor}`);
  }
}

/** The text of the YAML editor, by the clipboard: it renders only the lines in view. @param {Page} page */
async function copyYaml(page) {
  await page.getByRole("textbox", { name: "Resource" }).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Control+c");
  return page.evaluate(() => navigator.clipboard.readText());
}

/** Replaces the text of the YAML editor. @param {Page} page @param {string} text */
async function pasteYaml(page, text) {
  await page.getByRole("textbox", { name: "Resource" }).click();
  await page.evaluate((pasted) => navigator.clipboard.writeText(pasted), text);
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Control+v");
}

/** @param {Page} page @param {string} button */
async function reviewAndSave(page, button) {
  await page.getByRole("button", { name: /^Review/ }).click();
  await page.getByRole("button", { name: button, exact: true }).click();
  await page.getByRole("status", { name: "Phase" }).waitFor();
}

const detail = `${url}/ui/${namespace}/album`;
/** @type {Page} */
let editor;

/** @type {[string, () => Promise<void>][]} */
const steps = [
  [
    "signs in with a token, and sees that nothing is there",
    async () => {
      editor = await newcomer();
      await editor.getByLabel("Token").fill("not-a-token");
      await editor.getByRole("button", { name: "Sign in" }).click();
      await editor.getByText("the token is invalid or has expired").waitFor();
      await inspect(editor, "sign-in");
      await interrupt(editor, "**/session", "**/assets/SignIn-*.js", "**/assets/SignIn-*.css");
      await editor.reload();
      await editor.getByLabel("Token").waitFor();
      await editor.context().close();
      editor = await person(env("EDITOR_TOKEN"));
      await editor.getByText(`You can create Darkrooms in: ${namespace}`).waitFor();
      await inspect(editor, "empty");
      assert.equal(await editor.evaluate(() => document.cookie), "", "scripts can read the cookie");
    },
  ],
  [
    `loads no more than ${page.config.firstLoadKilobytes} kB before the list is shown`,
    async () => {
      // The other views are loaded in idle time, which this tab never has.
      const tab = await editor.context().newPage();
      await tab.addInitScript(() => void Object.assign(window, { requestIdleCallback: () => 0 }));
      await tab.goto(editor.url());
      await tab.getByRole("heading", { name: "Darkrooms", exact: true }).waitFor();
      const sizes = await tab.evaluate(() =>
        /** @type {PerformanceResourceTiming[]} */ ([...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")])
          .filter(({ entryType, name }) => entryType === "navigation" || name.includes("/assets/"))
          .map(({ encodedBodySize }) => encodedBodySize),
      );
      const bytes = sizes.reduce((sum, size) => sum + size, 0);
      assert(sizes.length > 2 && bytes > 0 && bytes <= page.config.firstLoadKilobytes * 1000, `${sizes.length} files of the first load have ${bytes} bytes`);
      await tab.close();
    },
  ],
  [
    "gets from nothing to an image with three clicks and three fields",
    async () => {
      await editor.evaluate(() => {
        const fields = new Set();
        const done = { clicks: 0, fields: 0 };
        Object.assign(window, { done });
        addEventListener("click", ({ isTrusted }) => (done.clicks += isTrusted ? 1 : 0), true);
        addEventListener("input", ({ target }) => (done.fields = fields.add(target).size), true);
      });
      await watchShifts(editor, false);
      await editor.getByRole("link", { name: "Create Darkroom" }).first().click();
      await assertArrived(editor, "Create Darkroom");
      await editor.getByLabel("Base URL").fill(env("FOLDER_URL"));
      await editor.getByLabel("Image to check with").fill(image);
      await editor.locator("#field-name").fill("first");
      await editor.getByText(`at first.${env("BASE_DOMAIN")}`).waitFor();
      await inspect(editor, "first-run");
      await editor.getByRole("button", { name: /^Review/ }).click();
      await editor.getByRole("button", { name: "Create", exact: true }).click();
      await assertArrived(editor, "first");
      const picture = editor.getByRole("img", { name: image, exact: true });
      await picture.waitFor({ timeout: patience });
      const box = await picture.boundingBox();
      assert(box && box.y + box.height <= 800, `the image is below the fold: ${JSON.stringify(box)}`);
      const { clicks, fields } = await editor.evaluate(() => /** @type {any} */ (window).done);
      assert(clicks <= 3 && fields <= 3, `it takes ${clicks} clicks and ${fields} fields`);
      await assertNoShifts(editor, "on the way to the image");
      await editor.getByRole("link", { name: "Darkrooms", exact: true }).last().click();
      await assertArrived(editor, "Darkrooms");
      await rest("DELETE", `/darkrooms/${namespace}/first`);
      await editor.getByText("No Darkrooms yet").waitFor({ timeout: patience });
    },
  ],
  [
    "tells what is wrong beside the fields, by the page, by the server while one rests, and by the review",
    async () => {
      await editor.getByRole("link", { name: "Create Darkroom" }).first().click();
      assert.equal(await editor.locator("#field-namespace").inputValue(), namespace);
      await editor.getByRole("button", { name: /^Review/ }).click();
      await editor.locator("#field-name-help").getByText("Required").waitFor();
      await editor.getByText("Enter at least one").first().waitFor();
      // The foot hides no invalid field that an error leads to, wherever the form is scrolled to.
      await editor.setViewportSize({ width: 1280, height: 400 });
      for (const field of ["name", "subDomains"]) {
        await editor.evaluate((id) => {
          const [box, main] = [id, "main"].map((name) => document.getElementById(name));
          /** @type {HTMLElement} */ (document.activeElement).blur();
          main?.scrollBy(0, (box?.getBoundingClientRect().bottom ?? 0) - main.getBoundingClientRect().bottom);
        }, `field-${field}`);
        await editor.getByRole("button", { name: field, exact: true }).dispatchEvent("click");
        await editor.waitForFunction((id) => document.activeElement?.id === id, `field-${field}`);
        await aboveFoot(editor);
      }
      await editor.setViewportSize({ width: 1280, height: 800 });
      await editor.locator("#field-name").fill("album");
      await editor.getByRole("button", { name: "Remove album" }).waitFor();
      const gate = editor.getByRole("switch", { name: "Limit and cache requests with a gate" });
      assert(await gate.isChecked(), "a new Darkroom has no gate");
      await gate.uncheck({ force: true });
      await editor.getByLabel("Base URL").fill(env("FOLDER_URL"));
      const probe = editor.getByLabel("Image to check with");
      await probe.fill("cat.jpg");
      await probe.blur();
      await editor.locator("#field-probe-path-help").getByText("Must start with '/'").waitFor();
      await probe.fill(image);
      await editor.getByLabel("Version").fill("not a version");
      await editor.getByRole("button", { name: /^Review/ }).click();
      await editor.locator("#field-version-help").getByText("Must be a version such as 0.4.2").waitFor();
      await inspect(editor, "create");
      await editor.getByLabel("Version").fill("");
      // A rule that the server alone knows.
      await probe.fill("/ping");
      await editor.getByRole("button", { name: /^Review/ }).click();
      await editor.locator("#field-probe-path-help").getByText("must be the path of an image").waitFor();
      await probe.fill(image);
    },
  ],
  [
    "keeps form and YAML in step",
    async () => {
      await editor.getByRole("tab", { name: "YAML" }).click();
      const text = await copyYaml(editor);
      assert(text.includes("kind: Darkroom") && text.includes("- album"), text);
      await pasteYaml(editor, "kind: [");
      await editor.getByText("Invalid YAML").waitFor();
      await pasteYaml(editor, text.replace("replicas: 1", "# for Friday\n  logLevel: loud"));
      await editor.locator(".cm-lintRange-error", { hasText: "loud" }).hover();
      await editor.getByText("Must be one of debug, info").filter({ visible: true }).waitFor();
      await inspect(editor, "create-yaml");
      await pasteYaml(editor, text.replace("replicas: 1", "# for Friday\n  replicas: 2"));
      await editor.keyboard.press("Control+End");
      await editor.keyboard.type("  logL");
      await editor.getByText("LogLevel is the minimum severity", { exact: false }).waitFor();
      await editor.getByRole("option", { name: "logLevel" }).click();
      await editor.getByRole("option", { name: "debug" }).waitFor();
      await inspect(editor, "create-yaml-complete");
      await editor.keyboard.press("Escape");
      await editor.keyboard.type("debug");
      // The first one closes the list of values.
      await editor.keyboard.press("Escape");
      await editor.keyboard.press("Escape");
      await editor.keyboard.press("Tab");
      assert(await editor.getByRole("button", { name: /^Review/ }).evaluate((button) => button === document.activeElement), "Escape, then Tab does not leave the editor");
      // More settings are open since one of them had an error.
      await editor.getByRole("tab", { name: "Form" }).click();
      const pods = editor.getByLabel("Number of pods", { exact: true });
      assert.equal(await pods.inputValue(), "2");
      await editor.getByRole("button", { name: "Number of pods: decrease" }).click();
      await editor.getByRole("tab", { name: "YAML" }).click();
      const changed = await copyYaml(editor);
      assert(changed.includes("# for Friday\n  replicas: 1\n") && changed.includes("logLevel: debug"), changed);
      await editor.getByRole("tab", { name: "Form" }).click();
    },
  ],
  [
    "creates a Darkroom of a web folder, and sees it become ready without a reload",
    async () => {
      await editor.evaluate(() => Object.assign(window, { notReloaded: true }));
      await editor.getByRole("button", { name: /^Review/ }).click();
      await editor.getByRole("heading", { name: "Review the new Darkroom" }).waitFor();
      await editor.getByRole("button", { name: /^\d+ objects will be created/ }).click();
      await editor.getByRole("button", { name: /^Deployment .* will be created$/ }).click();
      await editor.getByText("kind: Deployment").waitFor();
      await inspect(editor, "review-new");
      await editor.getByRole("button", { name: "Create", exact: true }).click();
      await waitPhase(editor, "Ready");
      const picture = editor.getByRole("img", { name: image, exact: true });
      await picture.waitFor({ timeout: patience });
      const box = await picture.boundingBox();
      assert(box && box.y + box.height <= 800, `the image is below the fold: ${JSON.stringify(box)}`);
      await unfold(editor, /^Pods:/);
      await editor.getByRole("grid", { name: "Pods" }).getByText("Ready").waitFor({ timeout: patience });
      await editor.getByRole("button", { name: /^(Log and events|Events) of / }).click();
      await editor.getByRole("dialog").getByRole("heading", { name: /^Pod album-/ }).waitFor();
      await inspect(editor, "pod");
      await editor.keyboard.press("Escape");
      await editor.getByRole("button", { name: "Conditions" }).click();
      await editor.getByText("All pods are ready", { exact: true }).waitFor();
      await editor.getByText("Images are served", { exact: true }).waitFor({ timeout: patience });
      await editor.getByRole("button", { name: "Details" }).click();
      await editor.getByRole("link", { name: `album.${env("BASE_DOMAIN")}`, exact: true }).waitFor();
      await editor.getByRole("button", { name: `Copy album.${env("BASE_DOMAIN")}` }).click();
      assert.equal(await editor.evaluate(() => navigator.clipboard.readText()), `album.${env("BASE_DOMAIN")}`);
      assert(await editor.evaluate(() => "notReloaded" in window), "the page was loaded anew");
      await inspect(editor, "overview");
    },
  ],
  [
    "sees the resized image in the playground",
    async () => {
      assert.deepEqual(await fetchImage(editor, "200"), { before: 1200, after: 200 });
      await editor.getByText(/^(?:Info alert:)?\s*\d+ % lighter$/).waitFor();
      const shown = await editor.getByLabel("URL of the image").innerText();
      assert.equal(shown, `http://album.${env("BASE_DOMAIN")}${image}?w=200`);
      await editor.getByRole("button", { name: "Copy", exact: true }).click();
      await editor.getByRole("menuitem", { name: "HTML" }).click();
      await editor.getByText("Copied HTML").waitFor();
      assert((await editor.evaluate(() => navigator.clipboard.readText())).startsWith(`<img src="${shown}"`));
      await checkSrcset(editor, "Thumbnail", ["1x", "2x", "3x"]);
      await checkSrcset(editor, "Card", ["320w", "640w", "960w", "1200w"]);
      await editor.getByRole("button", { name: "Measure a responsive image" }).click();
      await editor.getByRole("listitem").filter({ hasText: /^640w .* as JPEG/ }).waitFor({ timeout: patience });
      await inspect(editor, "playground");
      for (const tab of ["History", "YAML"]) {
        await editor.getByRole("tab", { name: tab }).click();
        await editor.locator(tab === "History" ? "table" : "pre").first().waitFor();
        await inspect(editor, tab.toLowerCase());
      }
    },
  ],
  [
    "explains the URL of the image, and one of an image that does not exist",
    async () => {
      await editor.getByRole("tab", { name: "Overview" }).click();
      await editor.getByRole("link", { name: "Explain", exact: true }).click();
      await assertArrived(editor, "Explain a URL");
      const address = editor.getByLabel(/^URL of an image/);
      assert.equal(await address.inputValue(), `http://album.${env("BASE_DOMAIN")}${image}`);
      await editor.getByRole("button", { name: "Explain" }).click();
      await editor.getByText(`Darkroom ${namespace}/album serves this image.`).waitFor({ timeout: patience });
      await inspect(editor, "explain");
      await address.fill(`http://album.${env("BASE_DOMAIN")}/none.jpg?w=20`);
      await editor.getByRole("button", { name: "Explain" }).click();
      await editor.getByText("To blame", { exact: true }).waitFor({ timeout: patience });
      await inspect(editor, "explain-failure");
      await editor.getByRole("link", { name: "Open album" }).click();
      await assertArrived(editor, "album");
    },
  ],
  [
    "edits it to S3, and gets the same image from there",
    async () => {
      await editor.getByRole("link", { name: "Edit" }).click();
      await editor.getByRole("radio", { name: "S3", exact: true }).check();
      await editor.getByLabel("Bucket").fill(env("S3_BUCKET"));
      await editor.getByLabel("Region").fill(env("S3_REGION"));
      await editor.getByLabel("Endpoint").fill(env("S3_ENDPOINT"));
      await editor.getByRole("radio", { name: "Inline keys" }).check();
      await editor.getByText("Everyone who can read this Darkroom with kubectl can read inline keys").waitFor();
      await inspect(editor, "edit-s3");
      await editor.getByLabel("Access key").fill("typed-access");
      await editor.getByLabel("Secret key").fill("typed-secret");
      await editor.getByRole("button", { name: "Create a Secret from these keys" }).click();
      await editor.getByText("The Secret album-s3 was created").waitFor();
      const secret = editor.getByRole("textbox", { name: /^Secret\b(?! key)/ });
      assert.equal(await secret.inputValue(), "album-s3");
      assert(!(await editor.content()).includes("typed-secret"), "the form still has the key");
      await secret.fill(env("S3_SECRET"));
      await editor.getByRole("button", { name: /^Review/ }).click();
      await editor.getByRole("heading", { name: "Review changes" }).waitFor();
      await inspect(editor, "review");
      await editor.getByRole("button", { name: "Save", exact: true }).click();
      await waitPhase(editor, "Ready");
      await editor.getByRole("button", { name: "Details" }).click();
      await editor.locator("dd", { hasText: "S3" }).first().waitFor();
      assert.equal((await fetchImage(editor, "90")).after, 90);
    },
  ],
  [
    "rolls it back to an earlier revision, and forward",
    async () => {
      await editor.getByRole("tab", { name: "History" }).click();
      await editor.getByRole("button", { name: "Roll back to revision 1" }).waitFor();
      await inspect(editor, "history");
      await editor.getByRole("button", { name: /compare revision 1 with now$/ }).click();
      await editor.getByRole("dialog", { name: "Revision 1 and now" }).waitFor();
      await inspect(editor, "compare");
      await editor.keyboard.press("Escape");
      await editor.getByRole("dialog").waitFor({ state: "detached" });
      await editor.setViewportSize({ width: 360, height: 800 });
      await editor.reload();
      const tab = editor.getByRole("tab", { name: "History", selected: true });
      await settles(tab, (box) => box.x >= 0 && box.x + box.width <= 360, "on a phone the selected tab is");
      await editor.setViewportSize({ width: 1280, height: 800 });
      await editor.getByRole("button", { name: "Roll back to revision 1" }).click();
      const dialog = editor.getByRole("dialog");
      await dialog.getByText("type: WebFolder").waitFor();
      await inspect(editor, "roll-back");
      await dialog.getByRole("button", { name: "Roll back" }).click();
      await editor.getByText("Rolled back to the settings of revision 1").waitFor();
      assert.equal((await rest("GET", `/darkrooms/${namespace}/album`)).source.type, "WebFolder");
      await rest("POST", `/darkrooms/${namespace}/album/rollback`, { revision: 2 }, { "If-Match": "*" });
      await editor.getByRole("tab", { name: "Overview" }).click();
      await editor.getByRole("button", { name: "Details" }).click();
      await editor.locator("dd", { hasText: "S3" }).first().waitFor();
      await waitPhase(editor, "Ready");
      assert.equal((await fetchImage(editor, "80")).after, 80);
    },
  ],
  [
    "meets somebody else's edit, sees both sides and settles it",
    async () => {
      await editor.goto(`${detail}/edit`);
      await editor.getByRole("button", { name: "Number of pods: increase" }).click();
      await addSubDomain(editor, "second");
      await rest("PATCH", `/darkrooms/${namespace}/album`, { replicas: 3, logLevel: "debug" }, {
        "If-Match": "*",
        "Content-Type": "application/merge-patch+json",
      });
      await editor.getByRole("button", { name: /^Review/ }).click();
      await editor.getByText("Another user changed the same fields").waitFor();
      await inspect(editor, "conflict");
      await editor.getByRole("radio", { name: "replicas: theirs, 3" }).check();
      await reviewAndSave(editor, "Save");
      const stored = await rest("GET", `/darkrooms/${namespace}/album`);
      assert.equal(stored.replicas, 3);
      assert.equal(stored.logLevel, "debug");
      assert.deepEqual(stored.subDomains, ["album", "second"]);
    },
  ],
  [
    "keeps unsaved changes over Back and a reload, and signs in again above the form",
    async () => {
      await editor.goto(detail);
      await editor.getByRole("link", { name: "Edit" }).click();
      await editor.getByRole("button", { name: "Number of pods: increase" }).click();
      const pods = editor.getByLabel("Number of pods", { exact: true });
      const typed = await pods.inputValue();
      await editor.goBack();
      await editor.getByRole("status", { name: "Phase" }).waitFor();
      await editor.goForward();
      await editor.getByText("Your unsaved changes were restored").waitFor();
      assert.equal(await pods.inputValue(), typed);
      editor.once("dialog", (dialog) => void dialog.accept());
      await editor.reload();
      await editor.getByText("Your unsaved changes were restored").waitFor();
      assert.equal(await pods.inputValue(), typed);
      await inspect(editor, "restored");
      await editor.context().clearCookies();
      await editor.getByRole("button", { name: /^Review/ }).click();
      const dialog = editor.getByRole("dialog", { name: "Your session has expired" });
      await dialog.getByLabel("Token").waitFor();
      await inspect(editor, "expired");
      await dialog.getByLabel("Token").fill(env("EDITOR_TOKEN"));
      await dialog.getByRole("button", { name: "Sign in" }).click();
      await dialog.waitFor({ state: "detached" });
      // Only the operator has written since, so the check that was refused meets no conflict.
      await editor.getByRole("heading", { name: "Review changes" }).waitFor({ timeout: patience });
      // The following steps start without a draft.
      editor.once("dialog", (prompt) => void prompt.accept());
      await editor.goto(detail);
      await editor.evaluate(() => sessionStorage.clear());
    },
  ],
  [
    "sees the list change by itself, and finds what it looks for",
    async () => {
      await editor.getByRole("link", { name: "Darkrooms" }).first().click();
      const table = editor.getByRole("table", { name: "Darkrooms" });
      await table.getByRole("link", { name: "album", exact: true }).waitFor();
      await editor.evaluate(() => Object.assign(window, { notReloaded: true }));
      await rest("POST", "/darkrooms", { name: "other", namespace, replicas: 0, source: { baseUrl: "https://example.com" }, subDomains: ["other"] });
      await table.getByRole("link", { name: "other", exact: true }).waitFor();
      await table.getByRole("img", { name: image }).waitFor();
      await inspect(editor, "list");
      await editor.setViewportSize({ width: 360, height: 800 });
      await settles(table.getByRole("link", { name: "album", exact: true }), (box) => box.y < 480, "on a phone the first row is");
      const cut = await editor.evaluate(() => {
        const range = document.createRange();
        const parts = [...document.querySelectorAll(".dr-domains a")].flatMap((link) => [...link.childNodes]);
        return parts.filter((part) => (range.selectNodeContents(part), range.getClientRects().length > 1)).map(({ textContent }) => textContent);
      });
      assert.deepEqual(cut, [], "on a phone host names break inside of words");
      // 200 % zoom of a small screen.
      await editor.setViewportSize({ width: 640, height: 400 });
      await table.getByRole("link", { name: "album", exact: true }).click({ trial: true });
      await editor.setViewportSize({ width: 1280, height: 800 });
      await editor.getByLabel("Search by name, source, version, domain or reason").fill("alb");
      await table.getByRole("link", { name: "other", exact: true }).waitFor({ state: "detached" });
      assert.equal(new URL(editor.url()).search, "?q=alb");
      await editor.getByRole("button", { name: "Clear search" }).click();
      await rest("DELETE", `/darkrooms/${namespace}/other`);
      await table.getByRole("link", { name: "other", exact: true }).waitFor({ state: "detached", timeout: patience });
      assert(await editor.evaluate(() => "notReloaded" in window), "the page was loaded anew");
    },
  ],
  [
    "stays usable while the server is away",
    async () => {
      await editor.goto(detail);
      await editor.getByText("Live", { exact: true }).waitFor();
      await editor.waitForFunction(() => performance.getEntriesByType("resource").some(({ name }) => name.includes("FormView")));
      servers.stop();
      await editor.getByRole("link", { name: "Darkrooms", exact: true }).last().click();
      await editor.getByRole("table", { name: "Darkrooms" }).getByRole("link", { name: "album", exact: true }).waitFor();
      await editor.getByRole("link", { name: "Create Darkroom" }).first().click();
      await editor.getByRole("heading", { name: "Create Darkroom" }).waitFor();
      await editor.getByText(/^No connection for/).waitFor({ timeout: patience });
      servers.start();
      await editor.getByText("Live", { exact: true }).waitFor({ timeout: patience });
      await editor.getByLabel("Base URL").waitFor();
      await editor.getByRole("button", { name: "Cancel" }).click();
    },
  ],
  [
    "shows the list in each of eight tabs",
    async () => {
      // Headless browsers call all of their tabs visible.
      const context = editor.context();
      await context.addInitScript(() => {
        let state = "hidden";
        Object.defineProperty(document, "visibilityState", { get: () => state });
        addEventListener("turned", () => {
          state = state === "hidden" ? "visible" : "hidden";
          document.dispatchEvent(new Event("visibilitychange"));
        });
      });
      for (let i = 0; i < 8; i++) {
        const tab = await context.newPage();
        const turn = () => tab.evaluate(() => dispatchEvent(new Event("turned")));
        await tab.goto(url);
        await turn();
        await tab.getByRole("link", { name: "album", exact: true }).waitFor();
        await turn();
      }
      await context.close();
      editor = await person(env("EDITOR_TOKEN"));
    },
  ],
  [
    "loads its views without moving what one reads",
    async () => {
      for (const path of ["/", ...["", "?tab=playground", "?tab=history", "?tab=yaml"].map((tab) => `/ui/${namespace}/album${tab}`)]) {
        await editor.goto(url + path);
        await watchShifts(editor, true);
        await editor.getByText("album").first().waitFor();
        await editor.waitForFunction(() => !document.querySelector(".pf-v6-c-spinner, .pf-v6-c-skeleton"));
        await editor.waitForFunction(() => [...document.images].every(({ complete }) => complete));
        await assertNoShifts(editor, `while ${path} is loaded`);
      }
    },
  ],
  [
    "never shows a key that was typed",
    async () => {
      const canary = "canary-" + Math.random().toString(36).slice(2);
      const source = { type: "S3", bucket: "b", region: "r", accessKey: `${canary}-access`, secretKey: `${canary}-secret` };
      await rest("POST", "/darkrooms", { name: "canary", namespace, replicas: 0, source, subDomains: ["canary"] });
      const one = `/ui/${namespace}/canary`;
      for (const path of ["/", one, ...["playground", "history", "yaml"].map((tab) => `${one}?tab=${tab}`), `${one}/edit`]) {
        await editor.goto(url + path);
        await editor.getByText("canary").first().waitFor();
        await editor.waitForFunction(() => !document.querySelector(".pf-v6-c-spinner, .pf-v6-c-skeleton"));
        if (path.endsWith("/edit")) {
          await editor.getByText("Keep the current keys").waitFor();
          await editor.getByRole("tab", { name: "YAML" }).click();
          await editor.getByRole("textbox", { name: "Resource" }).getByText("canary").first().waitFor();
        }
        const seen = await editor.evaluate(
          () =>
            document.documentElement.outerHTML +
            [...document.querySelectorAll("*")].map(({ shadowRoot }) => shadowRoot?.textContent ?? "").join(" ") +
            [...document.querySelectorAll("input, textarea")].map((field) => /** @type {HTMLInputElement} */ (field).value).join(" "),
        );
        assert(!seen.includes(canary + "-") && !seen.includes(btoa(`${canary}-secret`)), `${path} shows a key`);
      }
      await rest("DELETE", `/darkrooms/${namespace}/canary`);
    },
  ],
  [
    "pauses, resumes and scales it",
    async () => {
      await editor.goto(detail);
      const album = `/darkrooms/${namespace}/album`;
      const phase = editor.getByRole("status", { name: "Phase" });
      const before = Number((await rest("GET", album)).replicas ?? 1);
      const act = async (/** @type {string} */ entry, /** @type {string} */ button, /** @type {string} */ done, replicas = "") => {
        await editor.getByRole("button", { name: "Actions" }).click();
        await editor.getByRole("menuitem", { name: entry }).click();
        const dialog = editor.getByRole("dialog");
        await dialog.getByRole("button", { name: "The same with kubectl" }).waitFor();
        if (replicas) {
          const field = dialog.getByLabel("Number of pods");
          assert(await field.evaluate((element) => element === document.activeElement), "the dialog does not focus what it asks for");
          await field.fill(replicas);
        }
        await inspect(editor, `action-${button.toLowerCase()}`);
        await dialog.getByRole("button", { name: button }).click();
        await editor.getByText(done).first().waitFor();
      };
      await act("Pause reconciliation", "Pause", "Reconciliation paused");
      await phase.getByText("Paused").waitFor({ timeout: patience });
      await act("Resume reconciliation", "Resume", "Reconciliation resumed");
      await phase.getByText("Ready").waitFor({ timeout: patience });
      await act("Scale", "Scale", "Number of pods changed", String(before + 1));
      await editor.getByText(`${before + 1} of ${before + 1}`).first().waitFor({ timeout: patience });
      await act("Scale", "Scale", "Number of pods changed", String(before));
      await editor.getByText(`${before} of ${before}`).first().waitFor({ timeout: patience });
    },
  ],
  [
    "restarts it, and sees its pods replaced",
    async () => {
      const pods = async () => {
        const { items } = /** @type {{ items: { name: string }[] }} */ (await rest("GET", `/darkrooms/${namespace}/album/pods`));
        return items.map(({ name }) => name);
      };
      const before = await pods();
      assert(before.length > 0, "there are no pods");
      const table = editor.getByRole("grid", { name: "Pods" });
      await unfold(editor, /^Pods:/);
      await table.getByText(before[0] ?? "", { exact: true }).waitFor();
      await editor.getByRole("button", { name: "Actions" }).click();
      await editor.getByRole("menuitem", { name: "Restart pods" }).click();
      const dialog = editor.getByRole("dialog");
      await dialog.getByRole("button", { name: "The same with kubectl" }).waitFor();
      await inspect(editor, "action-restart");
      await dialog.getByRole("button", { name: "Restart" }).click();
      // What is behind a dialog has no roles, and would look as if it was gone.
      await dialog.waitFor({ state: "detached" });
      for (const name of before) {
        await table.getByText(name, { exact: true }).waitFor({ state: "detached", timeout: 2 * patience });
      }
      assert(await table.isVisible(), "the table of pods closed by itself");
      await waitPhase(editor, "Ready");
      assert.deepEqual((await pods()).filter((name) => before.includes(name)), []);
    },
  ],
  [
    "finds all that have a label",
    async () => {
      const names = ["left", "right"];
      for (const name of names) {
        await rest("POST", "/darkrooms", { name, namespace, labels: { team: "many" }, replicas: 0, source: { baseUrl: "https://example.com" }, subDomains: [name] });
      }
      await editor.goto(url);
      const table = editor.getByRole("table", { name: "Darkrooms" });
      await table.getByRole("link", { name: "right", exact: true }).waitFor();
      await editor.getByRole("button", { name: "Label", exact: true }).click();
      await editor.getByRole("checkbox", { name: "team=many 2" }).click();
      // On a phone one opens the filters, and scrolls to the menu before it is opened.
      const toggle = editor.getByRole("button", { name: /^Label/ }).first();
      const filters = editor.getByRole("button", { name: /^Filter/ });
      await inspect(editor, "list-filter", async () => {
        await editor.keyboard.press("Escape");
        if (await filters.isVisible()) {
          await filters.click();
        }
        await toggle.scrollIntoViewIfNeeded();
        await toggle.click();
        await editor.getByRole("checkbox", { name: "team=many 2" }).waitFor();
      });
      await editor.keyboard.press("Escape");
      await table.getByRole("link", { name: "album", exact: true }).waitFor({ state: "detached" });
      for (const name of names) {
        await rest("DELETE", `/darkrooms/${namespace}/${name}`);
      }
      await editor.getByText("No matching Darkrooms").waitFor({ timeout: patience });
    },
  ],
  [
    "is refused what one may not do, and told so",
    async () => {
      const viewer = await person(env("VIEWER_TOKEN"));
      await viewer.getByRole("table", { name: "Darkrooms" }).getByRole("link", { name: "album", exact: true }).click();
      const edit = viewer.locator("a, button", { hasText: /^Edit$/ });
      await viewer.locator('[aria-disabled="true"]', { hasText: /^Edit$/ }).waitFor();
      assert.equal(await edit.getAttribute("aria-disabled"), "true");
      await viewer.goto(`${detail}/edit`);
      await viewer.getByText("You have read-only access to this Darkroom").waitFor();
      await viewer.getByRole("button", { name: "Number of pods: increase" }).click();
      const [answer] = await Promise.all([
        viewer.waitForResponse((response) => response.request().method() === "PUT"),
        viewer.getByRole("button", { name: /^Review/ }).click(),
      ]);
      assert.equal(answer.status(), 403);
      await viewer.getByText("Permission denied").waitFor();
      await inspect(viewer, "forbidden");
      await viewer.context().close();
    },
  ],
  [
    "may act in one namespace among others, or in none",
    async () => {
      const late = await person(env("LATE_TOKEN"));
      await late.getByRole("table", { name: "Darkrooms" }).getByRole("link", { name: "album", exact: true }).waitFor();
      await late.getByRole("link", { name: "Create Darkroom" }).first().click();
      await late.getByRole("button", { name: "More settings" }).click();
      assert.equal(await late.locator("#field-namespace").inputValue(), env("LATE_NAMESPACE"));
      await late.context().close();
      const stranger = await person(env("STRANGER_TOKEN"));
      await stranger.getByText("No Darkrooms visible to you").waitFor();
      await inspect(stranger, "stranger");
      await stranger.context().close();
    },
  ],
  [
    "deletes it, after its name was typed, and signs out",
    async () => {
      await editor.goto(detail);
      await editor.getByRole("button", { name: "Delete" }).click();
      const dialog = editor.getByRole("dialog");
      const button = dialog.getByRole("button", { name: "Delete" });
      assert(await button.isDisabled(), "it can be deleted without its name");
      await inspect(editor, "delete");
      await dialog.getByLabel("Type album to confirm").fill("album");
      await button.click();
      await editor.getByRole("button", { name: "Create it again…" }).waitFor();
      await inspect(editor, "deleted");
      await editor.getByText("No Darkrooms yet").waitFor({ timeout: patience });
      await editor.getByRole("button", { name: /^Signed in as/ }).click();
      await editor.getByRole("menuitem", { name: "Sign out" }).click();
      await editor.getByLabel("Token").waitFor();
      await editor.reload();
      await editor.getByLabel("Token").waitFor();
    },
  ],
];

/** Prints what a person sees on each page, and what the browser complained of. */
async function describe() {
  for (const page of browser.contexts().flatMap((context) => context.pages())) {
    const text = await page.locator("body").innerText({ timeout: 5_000 }).catch(String);
    console.log(`${page.url()} shows: ${text || "nothing"}`);
  }
  console.log(`complaints of the browser: ${complaints.join("\n") || "none"}`);
  console.log(`requests without an answer: ${unanswered.join("\n") || "none"}`);
}

let failed = false;
try {
  if (screenshots) {
    await mkdir(screenshots, { recursive: true });
  }
  for (const [name, step] of steps) {
    const began = Date.now();
    try {
      await step();
      assert.deepEqual(complaints, [], "the browser complains");
      console.log(`ok - ${name} (${Date.now() - began} ms)`);
    } catch (error) {
      failed = true;
      console.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
      await describe();
      if (screenshots) {
        await Promise.all(browser.contexts().flatMap((context) => context.pages()).map((page, i) => page.screenshot({ path: `${screenshots}/failed-${i}.png` })));
      }
      console.log(`not ok - ${name}`);
      break;
    }
  }
} finally {
  await browser.close();
}
process.exitCode = failed ? 1 : 0;
