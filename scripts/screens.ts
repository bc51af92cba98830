/**
 * Takes a picture of every page of the app in every state:
 * `npm run screens -- OUT [--pages market,token] [--states usual,failed] [--widths 1440,820,390] [--schemes light,dark] [--lanes 3] [--url URL --link LINK]`.
 *
 * Starts the service on a simulated market in a temporary folder, unless `--url` names one that runs; `--link` is then
 * its sign-in link. A page is opened once for each state, and is then resized and recoloured for its pictures. `--lanes`
 * pages are open at a time. A page that fails is named on standard error, and the command ends with 1. The states are made in the browser, by holding or changing the answers of the service:
 *
 * - `usual`: as it is.
 * - `loading`: no answer has come yet.
 * - `empty`: an account without data; every list of the market is empty.
 * - `late`: the answers are a minute old, because later reads are not answered.
 * - `partial`: the service is still reading the market's history.
 * - `failed`: every read is a 503.
 * - `offline`: the page was read, then the network went away.
 * - `out`: a visitor without a session.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"
import { type Browser, chromium, type Page, type Route } from "playwright-core"
import { args as browserArgs, path as browserPath } from "../test/support/browser.ts"
import { numberOption } from "./options.ts"

/** A busy machine needs minutes for the first start: the app and the past of the market are built. */
const READY_WITHIN_MS = 600_000
const SETTLED_WITHIN_MS = 30_000
/** Time for a page to notice that its reads fail or stay away. */
const NOTICE_MS = 4000
/** Time for the reads that a page makes beside its first one. */
const COLUMNS_MS = 2000
const LATE_MS = 90_000
/** Most time to open a page, or to take its picture, on a busy machine. */
const OPEN_WITHIN_MS = 120_000
/** Time for a page to draw itself for another width or scheme. */
const REDRAWN_MS = 250
const HEIGHT = 900

/** Reads of a page. Its own session is always answered, or the page would show nothing but that. */
const READS = /\/(?:api\/v1\/|freshness|readyz|openapi\.json|asyncapi\.json|changelog)/u

const states = ["usual", "loading", "empty", "late", "partial", "failed", "offline", "out"] as const
type State = (typeof states)[number]

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    pages: { type: "string" },
    states: { type: "string", default: states.join(",") },
    widths: { type: "string", default: "1440,820,390" },
    schemes: { type: "string", default: "light,dark" },
    lanes: { type: "string", default: "3" },
    url: { type: "string" },
    link: { type: "string" }
  }
})
const [out] = positionals

/** Ends the command with 2 and a message. */
const refuse = (message: string): never => {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}

/** The chosen names of a list. A name that is not in it ends the command. */
const chosen = <Name extends string>(option: string, text: string | undefined, names: ReadonlyArray<Name>) => {
  const asked = text?.split(",") ?? names
  const found = names.filter((name) => asked.includes(name))
  const unknown = asked.filter((name) => !names.some((known) => known === name))
  return unknown.length > 0 ? refuse(`${option} knows ${names.join(", ")}, not ${unknown.join(", ")}`) : found
}

interface Running {
  readonly url: string
  /** Path that opens a session. */
  readonly link: string
}

/** Starts the service in `folder`. `onStart` gets its process at once; the answer comes when it can be asked. */
const startService = async (folder: string, onStart: (service: ChildProcess) => void): Promise<Running> => {
  const ready = join(folder, "ready.json")
  const service = spawn(
    process.execPath,
    [join(import.meta.dirname, "start.mjs"), "--port", "0", "--data-dir", join(folder, "data"), "--ready-file", ready],
    {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, PAGE_REQUESTS: "100000", DRAIN_QUIET: "0 millis" }
    }
  )
  onStart(service)
  const limit = performance.now() + READY_WITHIN_MS
  while (!existsSync(ready) && service.exitCode === null && performance.now() < limit) {
    await sleep(200)
  }
  if (!existsSync(ready)) {
    throw new Error(
      service.exitCode === null
        ? `The service was not ready after ${READY_WITHIN_MS / 1000} s.`
        : `The service ended with ${service.exitCode} before it was ready.`
    )
  }
  const { baseUrl, link }: { baseUrl: string; link: string } = JSON.parse(readFileSync(ready, "utf8"))
  return { url: baseUrl, link }
}

/** Waits until the history of the market has been read: until then figures are missing. */
const historyRead = async (url: string) => {
  const limit = performance.now() + READY_WITHIN_MS
  while (performance.now() < limit) {
    const response = await fetch(`${url}/freshness`)
    const { data }: { data: ReadonlyArray<{ reason?: string }> } = await response.json()
    if (data.every(({ reason }) => reason !== "backfill_running")) {
      return
    }
    await sleep(1000)
  }
  process.stderr.write("The history of the market is not read yet. Figures may be missing.\n")
}

/** The cookie of a session that the link opens. */
const cookieOf = async (url: string, link: string) => {
  const response = await fetch(`${url}/app/session`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: url },
    body: JSON.stringify({ token: link.split("#")[1] })
  })
  const [name = "", value = ""] = (response.headers.get("set-cookie") ?? "").split(";", 1)[0]?.split("=") ?? []
  return value === "" ? refuse(`The sign-in link was refused: ${response.status}`) : { name, value, url }
}

type Cookie = Awaited<ReturnType<typeof cookieOf>>

const USDT = "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB"
const NO_WALLET = "11111111111111111111111111111112"

/** The token with the second largest volume, and a wallet that the account tracks or that trades the token. */
const subjectsOf = async (url: string, { name, value }: Cookie) => {
  const read = async (path: string) => {
    const response = await fetch(`${url}/api/v1/${path}`, { headers: { cookie: `${name}=${value}` } })
    return (await response.json()) as {
      readonly [list: string]: ReadonlyArray<{ readonly wallet: string; readonly token: { readonly address: string } }>
    }
  }
  const { data: ranked = [] } = await read("market/movement?window=1h&rank=volume&limit=2")
  const mint = ranked.at(-1)?.token.address ?? USDT
  const { wallets = [] } = await read("tracker/snapshot")
  const { data: traders = [] } = wallets.length > 0 ? {} : await read(`tokens/solana/${mint}/top-traders?limit=1`)
  return { mint, wallet: (wallets.at(-1) ?? traders[0])?.wallet ?? NO_WALLET }
}

const FAILURE = {
  error: { code: "data_unavailable", message: "The market cannot be read now.", details: [] },
  requestId: "00000000-0000-4000-8000-000000000000"
}

/** The answer with every list emptied. */
const emptied = (value: unknown): unknown => {
  if (Array.isArray(value)) {
    return []
  }
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, emptied(inner)]))
    : value
}

/** `/freshness` of a service that is still reading the history of its market. */
const unfinished = (answer: { readonly data: ReadonlyArray<{ readonly source: string }> }) => ({
  ...answer,
  data: answer.data.map((source) =>
    source.source === "block_feed"
      ? { ...source, status: "stale", reason: "backfill_running", share: 0.42, leftMs: 21_000 }
      : source
  )
})

/** Changes the answer to a read. A page may be gone before the answer is there. */
const changed = async (route: Route, change: (answer: never) => unknown) => {
  const response = await route.fetch()
  return response.ok()
    ? route.fulfill({ response, json: change((await response.json()) as never) })
    : route.fulfill({ response })
}

/** What happens to the reads of a page from its first one on. */
const routeOf: Readonly<Partial<Record<State, (route: Route) => Promise<void>>>> = {
  loading: () => Promise.resolve(),
  empty: (route) =>
    route.request().url().includes("/freshness") || route.request().url().includes("/tokens/solana/")
      ? route.continue()
      : changed(route, emptied),
  partial: (route) => (route.request().url().includes("freshness") ? changed(route, unfinished) : route.continue()),
  failed: (route) => route.fulfill({ status: 503, json: FAILURE, headers: { "retry-after": "5" } })
}

/** What happens once the page has been read. */
const afterwards: Readonly<Partial<Record<State, (page: Page) => Promise<void>>>> = {
  late: async (page) => {
    await page.route(READS, () => undefined)
    await page.clock.fastForward(LATE_MS)
    await page.waitForTimeout(NOTICE_MS)
  },
  offline: async (page) => {
    await page.context().setOffline(true)
    await page.clock.fastForward(LATE_MS)
    await page.waitForTimeout(NOTICE_MS)
  },
  loading: (page) => page.waitForTimeout(NOTICE_MS / 2),
  failed: (page) => page.waitForTimeout(NOTICE_MS / 2)
}

/** Waits until no part of a page is loading, and for the reads that fill its columns. */
const settled = async (page: Page) => {
  await page
    .locator("main:not(:has(.loading)) h1")
    .first()
    .waitFor({ timeout: SETTLED_WITHIN_MS })
    .catch(() => process.stderr.write(`Still loading: ${page.url()}\n`))
  await page.waitForTimeout(COLUMNS_MS)
}

/** A page in one state. */
interface Visit {
  readonly name: string
  readonly path: string
  readonly state: State
}

interface Looks {
  readonly widths: ReadonlyArray<number>
  readonly schemes: ReadonlyArray<"light" | "dark">
}

/** Gives the page each width and scheme, and calls `onLook` with its name once the page is drawn anew. */
const lookAt = async (page: Page, { schemes, widths }: Looks, onLook: (look: string) => Promise<unknown>) => {
  for (const width of widths) {
    await page.setViewportSize({ width, height: HEIGHT })
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
      await page.waitForTimeout(REDRAWN_MS)
      await onLook(`${width}-${colorScheme}`)
    }
  }
}

const visit = async (
  browser: Browser,
  url: string,
  cookie: Cookie,
  looks: Looks,
  folder: string,
  { name, path, state }: Visit
) => {
  const [width = 0] = looks.widths
  const context = await browser.newContext({ viewport: { width, height: HEIGHT }, reducedMotion: "reduce" })
  try {
    await context.addCookies(state === "out" ? [] : [cookie])
    const page = await context.newPage()
    await page.clock.install()
    const route = routeOf[state]
    if (state === "empty" || state === "failed" || state === "loading" || state === "late") {
      // A socket would bring what the reads do not.
      await page.routeWebSocket(/\/realtime/u, () => undefined)
    }
    if (route !== undefined) {
      // The page `/changelog` has the address of its read.
      await page.route(READS, (each) =>
        each.request().isNavigationRequest() ? each.continue() : void route(each).catch(() => undefined)
      )
    }
    await page.goto(url + path, { timeout: OPEN_WITHIN_MS })
    if (state !== "loading") {
      await settled(page)
    }
    await afterwards[state]?.(page)
    await lookAt(page, looks, async (look) => {
      const file = join(folder, `${name}-${state}-${look}.png`)
      await page.screenshot({ path: file, fullPage: true, timeout: OPEN_WITHIN_MS })
      process.stdout.write(`${file}\n`)
    })
  } finally {
    await Promise.all(context.pages().map((page) => page.unrouteAll({ behavior: "ignoreErrors" })))
    await context.close()
  }
}

const folder = mkdtempSync(join(tmpdir(), "fathom-screens-"))
let service: ChildProcess | undefined
try {
  if (out === undefined) {
    refuse("usage: npm run screens -- OUT")
  } else if (!existsSync(browserPath)) {
    refuse(`No Chromium at ${browserPath}: CHROMIUM_PATH says where it is.`)
  } else {
    mkdirSync(out, { recursive: true })
    const looks = {
      widths: values.widths.split(",").map((text) => numberOption("--widths", text, { whole: true })),
      schemes: chosen("--schemes", values.schemes, ["light", "dark"])
    }
    const lanes = numberOption("--lanes", values.lanes, { whole: true })
    const { link, url } =
      values.url === undefined
        ? await startService(folder, (started) => {
            service = started
          })
        : { url: values.url, link: values.link ?? "" }
    await historyRead(url)
    const cookie = await cookieOf(url, link)
    const { mint, wallet } = await subjectsOf(url, cookie)
    const pages: Readonly<Record<string, string>> = {
      market: "/",
      launches: "/?tab=launches&window=24h",
      watchlists: "/?tab=watchlists",
      map: "/?tab=map",
      venues: "/?tab=venues",
      token: `/t/${mint}`,
      wallet: `/w/${wallet}`,
      balances: `/w/${wallet}?tab=balances`,
      lots: `/w/${wallet}?tab=lots`,
      tracker: "/tracker",
      alerts: "/alerts",
      copy: "/copy",
      callouts: "/callouts",
      perps: "/perps",
      docs: "/docs",
      operation: "/docs/spot.quote",
      changelog: "/changelog",
      status: "/status",
      "sign-in": "/sign-in",
      developer: "/settings/developer",
      missing: "/nowhere"
    }
    const visits = chosen("--pages", values.pages, Object.keys(pages))
      .flatMap((name) =>
        chosen("--states", values.states, states).map((state): Visit => ({ name, path: pages[name] ?? "/", state }))
      )
      .values()
    const browser = await chromium.launch({ executablePath: browserPath, args: browserArgs })
    // Every lane takes the next page of the same list.
    const work = async () => {
      for (const each of visits) {
        await visit(browser, url, cookie, looks, out, each).catch((cause: unknown) => {
          process.stderr.write(`No picture of ${each.name} ${each.state}: ${String(cause)}\n`)
          process.exitCode = 1
        })
      }
    }
    await Promise.all(Array.from({ length: lanes }, work))
    await browser.close()
  }
} finally {
  if (service !== undefined && service.exitCode === null) {
    const ended = once(service, "exit")
    service.kill("SIGTERM")
    await ended
  }
  rmSync(folder, { recursive: true, force: true })
}
