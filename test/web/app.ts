/** The app in a browser, signed in, for tests of its pages. */
import axe from "axe-core"
import { Context, Effect, Layer, type Scope } from "effect"
import { execFile } from "node:child_process"
import { randomUUID } from "node:crypto"
import { connect } from "node:net"
import { promisify } from "node:util"
import type { BrowserContext, Page } from "playwright-core"
import { inject } from "vitest"
import { type RunningApp, startScript } from "../support/appServer.ts"
import * as Browser from "../support/browser.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

/** True with a browser and a database: `describe.runIf(isAvailable)`. */
export const isAvailable = Browser.isAvailable && TestDatabase.isAvailable

/** The colour schemes in which pages are tested. */
export const schemes = ["light", "dark"] as const

/**
 * A token of the simulated market, the same at every start. On a busy machine tests may begin before every token can be
 * quoted.
 */
export const FERN = "EsUtxf9iambveeqnPHnEuzHvbxrXipLcMtwPgoBHwQuj"

/** How a visitor sees a page. */
export interface Sight {
  readonly scheme?: (typeof schemes)[number]
  /** Width of the window in pixels. By default 1280. */
  readonly width?: number
  /** False for a visitor without a session. */
  readonly signedIn?: boolean
}

/** A page that was opened. */
export interface Visited {
  readonly page: Page
  /** Errors of the console and of scripts, and requests to other hosts, so far. */
  readonly complaints: ReadonlyArray<string>
}

interface AppShape {
  readonly url: string
  readonly mints: ReadonlyArray<string>
  /** A path that opens a session of the account. It works once. */
  readonly link: Effect.Effect<string>
  /** Opens a path in its own window and waits until nothing on the page is loading. The scope closes the window. */
  readonly visit: (path: string, sight?: Sight) => Effect.Effect<Visited, never, Scope.Scope>
}

/** How long a page may take for one step, also on a busy machine. */
const READ_WITHIN_MS = 90_000

const runningApp = Effect.callback<RunningApp>((resume) => {
  let answer = ""
  const socket = connect(inject("appServer"))
  socket.on("data", (chunk) => (answer += chunk.toString()))
  socket.on("error", (error) => resume(Effect.die(error)))
  socket.on("end", () => {
    const found = JSON.parse(answer) as RunningApp | { readonly failure: string }
    resume("failure" in found ? Effect.die(new Error(found.failure)) : Effect.succeed(found))
  })
})

/** Runs the command `accounts` and returns its output. */
const accountsCommand = ({ dataDir }: RunningApp, ...args: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    const env = { ...process.env, DATA_DIR: dataDir }
    const { stdout } = await promisify(execFile)(process.execPath, [startScript, "accounts", ...args, "--json"], {
      env
    })
    return JSON.parse(stdout) as { readonly url?: string }
  })

const linkTo = (app: RunningApp, account: string) =>
  Effect.map(accountsCommand(app, "link", account), ({ url = "" }) => `/sign-in${new URL(url).hash}`)

/** The cookie of a session opened with this link. */
const cookieOf = (url: string, link: string) =>
  Effect.promise(async () => {
    const body = JSON.stringify({ token: link.split("#")[1] })
    const headers = { "content-type": "application/json", origin: url }
    const response = await fetch(`${url}/app/session`, { method: "POST", headers, body })
    const [name = "", value = ""] = (response.headers.get("set-cookie") ?? "").split(";", 1)[0]?.split("=") ?? []
    return { name, value, url }
  })

/** Waits until a page has its heading and no part of it is loading for the first time. */
export const settled = (page: Page): Promise<void> =>
  page.locator("main:not(:has(.loading)) h1").first().waitFor({ timeout: READ_WITHIN_MS })

const watch = (context: BrowserContext, page: Page, url: string): Array<string> => {
  const complaints: Array<string> = []
  page.on("console", (message) => {
    // While state is loading, the service answers 503; beyond the minute's budget it answers 429. The page reads again
    // in both cases.
    if (message.type() === "error" && !/status of (?:429|503)/u.test(message.text())) {
      complaints.push(`console: ${message.text()} (${message.location().url})`)
    }
  })
  page.on("pageerror", (error) => complaints.push(`script: ${error.message}`))
  context.on("request", (request) => {
    if (!request.url().startsWith(`${url}/`)) {
      complaints.push(`request to ${request.url()}`)
    }
  })
  return complaints
}

const makeApp = Effect.fnUntraced(function* (account: string) {
  const app = yield* runningApp
  const browser = yield* Browser.Chromium
  if (account !== WELCOME) {
    yield* accountsCommand(app, "create", account)
  }
  const link = linkTo(app, account)
  const cookie = yield* cookieOf(app.url, yield* link)

  const visit: AppShape["visit"] = Effect.fnUntraced(function* (path, { scheme, signedIn = true, width = 1280 } = {}) {
    const context = yield* Effect.acquireRelease(
      Effect.promise(() =>
        browser.newContext({
          colorScheme: scheme ?? "light",
          viewport: { width, height: 900 },
          reducedMotion: "reduce"
        })
      ),
      (opened) =>
        Effect.promise(async () => {
          // A request of the page may be on its way through a route of the test.
          await Promise.all(opened.pages().map((page) => page.unrouteAll({ behavior: "ignoreErrors" })))
          await opened.close()
        })
    )
    return yield* Effect.promise(async () => {
      await context.addCookies(signedIn ? [cookie] : [])
      const page = await context.newPage()
      page.setDefaultTimeout(READ_WITHIN_MS)
      const complaints = watch(context, page, app.url)
      await page.goto(app.url + path)
      await settled(page)
      return { page, complaints }
    })
  })
  return { url: app.url, mints: app.mints, link, visit }
})

/** The account that owns the demo data of the simulated market. */
const WELCOME = "welcome"

/** The app with a session of one account. One service answers all tests of a run. */
export class App extends Context.Service<App, AppShape>()("fathom/test/App") {
  /** A new account without data. */
  static readonly layer: Layer.Layer<App> = Layer.effect(
    App,
    Effect.suspend(() => makeApp(`web-${randomUUID().slice(0, 8)}`))
  ).pipe(Layer.provide(Browser.Chromium.layer))

  /** The account of the demo data, shared by all tests that use it. */
  static readonly layerWelcome: Layer.Layer<App> = Layer.effect(App, makeApp(WELCOME)).pipe(
    Layer.provide(Browser.Chromium.layer)
  )
}

/** Words that fade in are judged as they stay. An animation without an end cannot be finished. */
const END_ANIMATIONS = `document.getAnimations()
  .filter(({ effect }) => effect?.getComputedTiming().iterations !== Infinity)
  .forEach((animation) => animation.finish())`

/** Accessibility faults that axe finds on a page in both colour schemes, one line each. */
export const axeFaults = async (page: Page): Promise<ReadonlyArray<string>> => {
  await page.evaluate(axe.source)
  const found: Array<string> = []
  for (const scheme of schemes) {
    await page.emulateMedia({ colorScheme: scheme })
    await page.evaluate(END_ANIMATIONS)
    const { violations } = await page.evaluate<axe.AxeResults>("axe.run()")
    found.push(...violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${scheme} ${id}: ${html}`)))
  }
  return found
}

/** How many pixels a page is wider than its window. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate("Math.max(0, document.documentElement.scrollWidth - innerWidth)")
