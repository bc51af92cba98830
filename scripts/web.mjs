// Builds the pages of `src/web` into `dist/web`. Plain JavaScript, because `npm ci` runs it with whatever Node is
// there.
import { statSync } from "node:fs"
import { fileURLToPath } from "node:url"

const pathOf = (relative) => fileURLToPath(new URL(relative, import.meta.url))

/** True when the pages are built. */
export const isBuilt = () => statSync(pathOf("../dist/web/index.html"), { throwIfNoEntry: false }) !== undefined

/** Vite; null in an installation without development packages. */
export const loadVite = async () => {
  try {
    return await import("vite")
  } catch (error) {
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error
    return null
  }
}

/**
 * Builds the pages. File names contain hashes, so that browsers may cache them forever. Nothing is inline, because of
 * the content security policy.
 */
export const buildPages = async () => {
  const vite = await loadVite()
  if (vite === null)
    return process.stderr.write("The pages are not built: vite is not installed. The API is served without them.\n")
  return vite.build({
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
