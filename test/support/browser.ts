/** A real browser, where there is one: `CHROMIUM_PATH`, or the usual place. */
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { chromium } from "playwright-core"

const path = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium"

/** Whether there is a browser: `describe.runIf(isAvailable)`. */
export const isAvailable = existsSync(path)

if (!isAvailable) {
  process.stdout.write(
    `No Chromium at ${path}: tests that need a browser are skipped. CHROMIUM_PATH says where it is.\n`
  )
}

const args = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync"
]

/** Starts a browser; it ends with the scope. */
export const launch = Effect.acquireRelease(
  Effect.promise(() => chromium.launch({ executablePath: path, args })),
  (browser) => Effect.promise(() => browser.close())
)
