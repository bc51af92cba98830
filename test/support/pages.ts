/** The built pages of the app. `npm ci` builds them; a checkout with old packages has none. */
import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** Builds the pages where they are missing. */
export const buildPages = (): void => {
  if (!existsSync(pathOf("../../dist/web/index.html"))) {
    execFileSync(process.execPath, [pathOf("../../scripts/web.mjs")])
  }
}
