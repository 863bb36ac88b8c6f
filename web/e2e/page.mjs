// People on the page, in a real browser against a real cluster: creating.mjs and keeping.mjs are the tests.
// test/e2e/page_test.go starts each, and says by the environment where all is:
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
import { mkdir } from "node:fs/promises";
import { strict as assert } from "node:assert";
import { AxeBuilder } from "@axe-core/playwright";
import { chromium } from "playwright-core";
import { forwardServers } from "./forward.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** @param {string} name */
export const env = (name) => {
  const value = process.env[name];
  assert(value, `${name} is not set`);
  return value;
};
export const url = env("URL");
export const namespace = env("NAMESPACE");
export const image = env("PICTURE");
const screenshots = process.env["SCREENSHOTS"];
/** For how long something may take that takes seconds, in milliseconds. */
export const patience = 60_000;

export const servers = forwardServers();
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"],
});

/** What the browser complained of: scripts that failed, and what the policy kept from loading. */
const complaints = /** @type {string[]} */ ([]);
/** Requests that got no answer. Those that a page no longer needs are among them. */
const unanswered = /** @type {string[]} */ ([]);

/** A person who has opened the page. */
export async function newcomer() {
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
export async function interrupt(/** @type {Page} */ page, /** @type {string[]} */ ...addresses) {
  await Promise.all(addresses.map((address) => page.route(address, (route) => route.abort("failed"), { times: 1 })));
}

/**
 * Has a page keep how far its layout shifts, and what moves, other than after a click.
 * @param {Page} page
 * @param {boolean} buffered whether what happened since it was loaded counts
 */
export async function watchShifts(page, buffered) {
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
export async function assertNoShifts(page, when) {
  const shifts = await page.evaluate(() => /** @type {{ value: number }[]} */ (/** @type {any} */ (window).shifts));
  const shift = shifts.reduce((sum, { value }) => sum + value, 0);
  assert(shift < 0.1, `the layout shifts by ${shift} ${when}: ${JSON.stringify(shifts)}`);
}

/** @param {string} token */
export async function person(token) {
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
export async function rest(method, path, body, headers = {}) {
  const response = await fetch(url + path, {
    method,
    headers: { Authorization: `Bearer ${env("EDITOR_TOKEN")}`, "Content-Type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  assert(response.ok, `${method} ${path} answers ${response.status}: ${text}`);
  return text === "" ? undefined : /** @type {any} */ (JSON.parse(text));
}

/** What a view must be fine as. */
const looks = /** @type {const} */ ([
  { scheme: "light", width: 1024 },
  { scheme: "dark", width: 360 },
]);

/**
 * Looks at a view light and wide, dark and narrow.
 * @param {Page} page
 * @param {string} name
 * @param {() => Promise<void>} [arrange] is called once the view has a width
 */
export async function inspect(page, name, arrange) {
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
    // Tabs move into their menu a moment after the width has changed.
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
    const spilled = await page.evaluate(() =>
      [...document.querySelectorAll(".dr-image__frame img")]
        .filter((img) => {
          const [inner, frame] = [img, /** @type {Element} */ (img.parentElement)].map((element) => element.getBoundingClientRect());
          return inner && frame && (inner.top < frame.top - 1 || inner.bottom > frame.bottom + 1 || inner.right > frame.right + 1);
        })
        .map(({ outerHTML }) => outerHTML),
    );
    assert.deepEqual(spilled, [], `${name}, ${width} px wide: an image is larger than its frame, and covers what is below`);
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
  // Tabs leave their menu a moment after the width has changed: a click before misses the tab that it is meant for.
  await page.locator(".pf-v6-c-tabs__item.pf-m-overflow").first().waitFor({ state: "detached" });
}

/** A view that was opened has the focus at its heading, not nowhere. @param {Page} page @param {string} heading */
export async function assertArrived(page, heading) {
  await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
  await page.waitForFunction(() => document.activeElement?.matches("h1, #main"), undefined, { timeout: 5_000 });
}

/**
 * Waits until an element is in its place.
 * @param {import("playwright-core").Locator} element
 * @param {(box: { x: number, y: number, width: number, height: number }) => boolean} isThere
 * @param {string} what
 */
export async function settles(element, isThere, what) {
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
export const aboveFoot = (page) =>
  page.waitForFunction(
    () => {
      const [field, foot] = [document.activeElement, document.querySelector(".dr-actions")].map((element) => element?.getBoundingClientRect());
      return document.activeElement !== document.body && field && foot && field.top >= 0 && field.bottom <= foot.top;
    },
    undefined,
    { timeout: 5_000 },
  );

/** @param {Page} page @param {string} phase */
export const waitPhase = (page, phase) =>
  page.getByRole("status", { name: "Phase" }).getByText(phase, { exact: true }).waitFor({ timeout: patience });

/**
 * Opens a part of the overview that is folded, unless it opened by itself.
 * @param {Page} page @param {string | RegExp} name
 */
export async function unfold(page, name) {
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
export async function fetchImage(page, width) {
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
export async function addSubDomain(page, /** @type {string} */ name) {
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
export async function checkSrcset(page, preset, descriptors) {
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
export async function copyYaml(page) {
  await page.getByRole("textbox", { name: "Resource" }).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Control+c");
  return page.evaluate(() => navigator.clipboard.readText());
}

/** Replaces the text of the YAML editor. @param {Page} page @param {string} text */
export async function pasteYaml(page, text) {
  await page.getByRole("textbox", { name: "Resource" }).click();
  await page.evaluate((pasted) => navigator.clipboard.writeText(pasted), text);
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Control+v");
}

/** @param {Page} page @param {string} button */
export async function reviewAndSave(page, button) {
  await page.getByRole("button", { name: /^Review/ }).click();
  await page.getByRole("button", { name: button, exact: true }).click();
  await page.getByRole("status", { name: "Phase" }).waitFor();
}

/** The view of the Darkroom album. */
export const detail = `${url}/ui/${namespace}/album`;

/** Prints what a person sees on each page, and what the browser complained of. */
async function describe() {
  for (const page of browser.contexts().flatMap((context) => context.pages())) {
    const text = await page.locator("body").innerText({ timeout: 5_000 }).catch(String);
    console.log(`${page.url()} shows: ${text || "nothing"}`);
  }
  console.log(`complaints of the browser: ${complaints.join("\n") || "none"}`);
  console.log(`requests without an answer: ${unanswered.join("\n") || "none"}`);
}

/**
 * Runs steps, and prints a line "ok - STEP" or "not ok - STEP" for each, and what went wrong before it. Steps build on those
 * before them: after a failure it ends.
 * @param {[string, () => Promise<void>][]} steps
 */
export async function run(steps) {
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
}
