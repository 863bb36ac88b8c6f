import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vitest/config";

/** The server that `npm run dev` passes requests of the API on to. */
const server = process.env["DARKROOM_SERVER"] ?? "http://127.0.0.1:5000";

/**
 * PatternFly's base style names fonts in italics, a font of icons and backgrounds that the
 * page has no use for. Without their rules they are not bundled.
 */
function onlyNeededFonts(): Plugin {
  return {
    name: "only-needed-fonts",
    enforce: "pre",
    transform(code, id) {
      if (!id.split("?")[0]?.endsWith("react-core/dist/styles/base.css")) {
        return undefined;
      }
      return code
        .replace(/@font-face\s*{[^}]*}/g, (rule) => (/Italic|pficon/.test(rule) ? "" : rule))
        .replace(/url\("\.\/assets\/images\/[^"]*"\)/g, "none");
    },
  };
}

export default defineConfig({
  plugins: [react(), onlyNeededFonts()],
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
      ["/darkrooms", "/events", "/session", "/settings", "/access", "/docs", "/openapi.json"].map((path) => [
        path,
        // As a server for one's own machine it wants to be called by its own name.
        { target: server, changeOrigin: true, headers: { origin: server } },
      ]),
    ),
  },
  test: {
    // Tests of components begin with the comment that asks for jsdom, which takes its time.
    environment: "node",
    setupFiles: ["test/setup.ts"],
    include: ["src/**/*.test.{ts,tsx}"],
    css: false,
    restoreMocks: true,
    server: { deps: { inline: [/@patternfly/] } },
  },
});
