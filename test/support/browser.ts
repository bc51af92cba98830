/** A real browser, where there is one: `CHROMIUM_PATH`, or the usual place. */
import { Context, Effect, Layer } from "effect"
import { existsSync } from "node:fs"
import { type Browser, chromium } from "playwright-core"

/** The browser's program, whether it exists or not. */
export const path = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium"

/** True with a browser: `describe.runIf(isAvailable)`. */
export const isAvailable = existsSync(path)

if (!isAvailable) {
  process.stdout.write(
    `No Chromium at ${path}: tests that need a browser are skipped. CHROMIUM_PATH says where it is.\n`
  )
}

/** Arguments that every browser of the tests starts with. */
export const args = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync"
]

/** The browser of a group of tests; it starts and ends with their layer. */
export class Chromium extends Context.Service<Chromium, Browser>()("fathom/test/Chromium") {
  static readonly layer: Layer.Layer<Chromium> = Layer.effect(
    Chromium,
    Effect.acquireRelease(
      Effect.promise(() => chromium.launch({ executablePath: path, args })),
      (browser) => Effect.promise(() => browser.close())
    )
  )
}
