import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vitest/config";
import { parse } from "yaml";
import { config } from "./package.json" with { type: "json" };

/** The API server that `npm run dev` proxies to. */
const server = process.env["DARKROOM_SERVER"] ?? "http://127.0.0.1:5000";

/**
 * Removes the parts of PatternFly's styles that the page does not use: fonts, its icon font, background images, and all
 * themes except light and dark.
 */
function onlyNeededStyles(): Plugin {
  return {
    name: "only-needed-styles",
    enforce: "pre",
    transform(code, id) {
      if (!/@patternfly\/.*\.css$/.test(id.split("?")[0] ?? "")) {
        return undefined;
      }
      return code
        .replace(/@font-face\s*{[^}]*}/g, "")
        .replace(/url\("\.\/assets\/images\/[^"]*"\)/g, "none")
        .replace(/[^{};]*\.pf-v6-pficon-[^{}]*{[^{}]*}/g, "")
        .replace(/:root:where\([^)]*\.pf-v6-theme-(?:high-contrast|felt|glass)[^)]*\)\s*{[^{}]*}/g, "");
    },
  };
}

/**
 * Removes the variables of PatternFly that neither styles nor code read, and the remaining rules for themes and
 * directions that the page does not have.
 */
function onlyUsedVariables(): Plugin {
  return {
    name: "only-used-variables",
    apply: "build",
    generateBundle(_, bundle) {
      const styles = Object.values(bundle).filter((file) => file.type === "asset" && file.fileName.endsWith(".css"));
      const code = Object.values(bundle).flatMap((file) => (file.type === "chunk" ? (file.code.match(/--[\w-]+/g) ?? []) : []));
      let texts = styles.map((file) => String(file.type === "asset" && file.source).replace(/(?<=[{};])[^{};]*(?:theme-(?:high-contrast|glass|felt)|dir-rtl)[^{};]*{[^{}]*}/g, ""));
      // Without one variable, the variables that it reads may be unused, too.
      for (let size = Infinity; size > texts.join("").length; ) {
        size = texts.join("").length;
        const used = new Set([...code, ...(texts.join("").match(/(?<=var\(\s*)--[\w-]+/g) ?? [])]);
        texts = texts.map((text) => text.replace(/(?<=[{;])(--pf-[\w-]+):[^;{}]*(?:;|(?=}))/g, (all, name: string) => (used.has(name) ? all : "")));
      }
      styles.forEach((file, i) => Object.assign(file, { source: texts[i] }));
    },
  };
}

/** Provides the schema of spec in the CRD as a module, without its rules, which the server checks. */
function darkroomSpec(): Plugin {
  const id = "virtual:darkroom-spec";
  const crd = new URL("../config/crd/bases/deployments.example.com_darkrooms.yaml", import.meta.url);
  return {
    name: "darkroom-spec",
    resolveId: (asked) => (asked === id ? id : undefined),
    load(asked) {
      if (asked !== id) {
        return undefined;
      }
      // eslint-disable-next-line @typescript-eslint/no-unsafe-member-access -- the API server checks its shape
      const spec: unknown = parse(readFileSync(crd, "utf8")).spec.versions[0].schema.openAPIV3Schema.properties.spec;
      const withoutRules = JSON.stringify(spec, (name, value: unknown) => (name === "x-kubernetes-validations" ? undefined : value));
      return `export default JSON.parse(${JSON.stringify(withoutRules)})`;
    },
  };
}

/**
 * Fails the build if the compressed first load is larger than allowed: the list with everything that it imports
 * statically, its styles and all fonts.
 */
function budget(kilobytes: number): Plugin {
  return {
    name: "budget",
    apply: "build",
    generateBundle(_, bundle) {
      const needed = new Set<string>();
      const need = (name: string) => {
        const file = bundle[name];
        if (!file || needed.has(name)) {
          return;
        }
        needed.add(name);
        if (file.type === "chunk") {
          [...file.imports, ...(file.viteMetadata?.importedCss ?? [])].forEach(need);
        }
      };
      for (const [name, file] of Object.entries(bundle)) {
        if ((file.type === "chunk" && file.isEntry) || name.endsWith(".woff2")) {
          need(name);
        }
      }
      let bytes = 0;
      for (const name of needed) {
        const file = bundle[name];
        const content = file?.type === "chunk" ? file.code : (file?.source ?? "");
        bytes += name.endsWith(".woff2") ? content.length : gzipSync(content).length;
      }
      const message = `first load: ${(bytes / 1000).toFixed(0)} kB compressed, of at most ${kilobytes} kB`;
      if (bytes === 0 || bytes > kilobytes * 1000) {
        this.error(message);
      }
      this.info(message);
    },
  };
}

export default defineConfig({
  plugins: [react(), onlyNeededStyles(), darkroomSpec(), onlyUsedVariables(), budget(config.firstLoadKilobytes)],
  build: {
    target: "es2022",
    // The policy of the page allows no inline script, so there are no data: modules.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
    // dist/.gitkeep is committed, so that Go can embed the folder before it is built.
    emptyOutDir: false,
  },
  server: {
    proxy: Object.fromEntries(
      ["/darkrooms", "/events", "/session", "/sign-in", "/auth", "/settings", "/access", "/secrets", "/openapi.json"].map((path) => [
        path,
        // With --auth=kubeconfig, the server accepts only its own name.
        { target: server, changeOrigin: true, headers: { origin: server } },
      ]),
    ),
  },
  test: {
    // Component tests request jsdom in a comment, because it is slow to start.
    environment: "node",
    // A limit for tests that hang, not for slow machines.
    testTimeout: 120_000,
    setupFiles: ["test/setup.ts"],
    include: ["src/**/*.test.{ts,tsx}"],
    css: false,
    restoreMocks: true,
    server: { deps: { inline: [/@patternfly/] } },
  },
});
