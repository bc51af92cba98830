// Builds the pages of `src/web` into `dist/web`. Plain JavaScript, because it runs at `npm ci` by whatever Node is there.
import { statSync } from "node:fs"
import { fileURLToPath } from "node:url"

const pathOf = (relative) => fileURLToPath(new URL(relative, import.meta.url))

/** True when the pages are built. */
export const isBuilt = () => statSync(pathOf("../dist/web/index.html"), { throwIfNoEntry: false }) !== undefined

/** Builds the pages. Hashed names, so that they can be cached for good; nothing inline, for the content security policy. */
export const buildPages = async () => {
  const { build } = await import("vite")
  await build({
    configFile: false,
    root: pathOf("../src/web"),
    logLevel: "warn",
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    build: {
      outDir: pathOf("../dist/web"),
      emptyOutDir: true,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      target: "es2022"
    }
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildPages()
}
