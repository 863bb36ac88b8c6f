// How people get from nothing to an image: page.mjs has the environment.
import { strict as assert } from "node:assert";
import page from "../package.json" with { type: "json" };
import { aboveFoot, assertArrived, assertNoShifts, checkSrcset, copyYaml, env, fetchImage, image, inspect, interrupt, namespace, newcomer, pasteYaml, patience, person, rest, run, unfold, waitPhase, watchShifts } from "./page.mjs";

/** @type {import("playwright-core").Page} */
let editor;

await run([
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
    "tells what is wrong beside the fields, while one rests and by the review",
    async () => {
      await editor.getByRole("link", { name: "Create Darkroom" }).first().click();
      assert.equal(await editor.locator("#field-namespace").inputValue(), namespace);
      await editor.getByRole("button", { name: /^Review/ }).click();
      await editor.locator("#field-name-help").getByText("required").waitFor();
      await editor.getByText("must have at least one item").first().waitFor();
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
      await editor.getByText(`supported values: "debug", "info"`).filter({ visible: true }).waitFor();
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
      assert(changed.includes("  replicas: 1\n") && changed.includes("logLevel: debug"), changed);
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
]);
