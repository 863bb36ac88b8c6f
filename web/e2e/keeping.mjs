// What people do with a Darkroom that exists: page.mjs has the environment.
import { strict as assert } from "node:assert";
import { addSubDomain, assertNoShifts, detail, env, fetchImage, image, inspect, namespace, patience, person, rest, reviewAndSave, run, servers, settles, unfold, url, waitPhase, watchShifts } from "./page.mjs";

/** @type {import("playwright-core").Page} */
let editor;

await run([
  [
    "finds the Darkroom that a program has created, and sees it become ready",
    async () => {
      editor = await person(env("EDITOR_TOKEN"));
      await rest("POST", "/darkrooms", { name: "album", namespace, source: { baseUrl: env("FOLDER_URL") }, subDomains: ["kept"], probe: { path: image } });
      await editor.getByRole("table", { name: "Darkrooms" }).getByRole("link", { name: "album", exact: true }).click();
      await waitPhase(editor, "Ready");
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
      // In the menu of tabs, none has the role.
      const tab = editor.locator(".dr-detail-tabs .pf-v6-c-tabs__item.pf-m-current", { hasText: "History" });
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
    "rotates its keys, sees that the new ones are refused while the image is still served, and goes back",
    async () => {
      await editor.goto(detail);
      await editor.getByRole("button", { name: "Actions" }).click();
      await editor.getByRole("menuitem", { name: "Rotate keys" }).click();
      const dialog = editor.getByRole("dialog");
      await dialog.getByLabel("Access key").fill("typed-access");
      await dialog.getByLabel("Secret key").fill("typed-secret");
      await dialog.getByLabel("Name of the new Secret").fill("album-rotated");
      await inspect(editor, "rotate");
      await dialog.getByRole("button", { name: "Rotate" }).click();
      await dialog.waitFor({ state: "detached" });
      await editor.getByText("Access denied by the source").first().waitFor({ timeout: patience });
      await editor.getByRole("img", { name: image }).waitFor({ timeout: patience });
      await inspect(editor, "refused-keys");
      await editor.getByRole("button", { name: /^Roll back to revision/ }).click();
      await dialog.getByText("name: album-rotated").waitFor();
      await dialog.getByRole("button", { name: "Roll back" }).click();
      await dialog.waitFor({ state: "detached" });
      await waitPhase(editor, "Ready");
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
      assert.deepEqual(stored.subDomains, ["kept", "second"]);
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
]);
