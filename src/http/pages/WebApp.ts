/** The app: one page for every address that the browser routes, and the files that it loads. */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { readdirSync, readFileSync } from "node:fs"
import { extname } from "node:path"
import { rawHeader } from "../middleware/rawHeader.ts"
import { isAddress } from "../../domain/Address.ts"
import { contractDocument, pages as documents } from "./ApiDocument.ts"
import { changelog } from "./changelog.ts"

/** Addresses that the browser routes. Where a parameter names nothing, the app answers 404. */
const routed = [
  "/",
  "/t/:mint",
  "/w/:wallet",
  "/tracker",
  "/alerts",
  "/copy",
  "/callouts",
  "/perps",
  "/docs",
  "/docs/:page",
  "/status",
  "/sign-in",
  "/settings/developer"
] as const

/** Pages of the reference that describe no operation. */
const GUIDES = [
  "errors",
  "limits",
  "numbers",
  "live",
  "coming-from",
  "from-jupiter",
  "from-dexscreener",
  "from-geckoterminal",
  "from-tradingview",
  "from-solanatracker"
]

interface Operations {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string }>>>>
}

const pagesOfReference = (): ReadonlySet<string> => {
  const { paths } = contractDocument() as Operations
  const operations = Object.values(paths).flatMap((path) => Object.values(path))
  return new Set([...GUIDES, ...operations.flatMap(({ operationId }) => operationId ?? [])])
}

/** Makes a test for the parameters of a routed address: false when there is no such page. */
const pageTest = () => {
  let known: ReadonlySet<string> | undefined
  return ({ mint, page, wallet }: Readonly<Record<string, string | undefined>>): boolean =>
    [mint, wallet].every((address) => address === undefined || isAddress(address)) &&
    (page === undefined || (known ??= pagesOfReference()).has(page))
}

const FILES = "/assets/:file"
const CHANGES = "/changelog"

/** Paths that answer GET outside the contract. */
export const pages = [...routed, FILES, CHANGES, ...documents] as const

/** The folder that `scripts/web.mjs` fills. It has the same path from `src` as from a package's `dist`. */
const folder = new URL("../../../dist/web/", import.meta.url)

/** Scripts, styles, requests and frames only from this service, and no inline code. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'"
].join("; ")

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2"
}

/** The built files by name; null when the pages are not built. */
const readBuilt = (): { readonly page: string; readonly files: ReadonlyMap<string, Uint8Array> } | null => {
  try {
    const names = readdirSync(new URL("assets/", folder))
    return {
      page: readFileSync(new URL("index.html", folder), "utf8"),
      files: new Map(names.map((name) => [name, readFileSync(new URL(`assets/${name}`, folder))]))
    }
  } catch {
    return null
  }
}

const pageHeaders = {
  "cache-control": "no-cache",
  "content-security-policy": POLICY,
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer"
}

const HTML = "text/html; charset=utf-8"

const notBuilt = HttpServerResponse.text("The pages are not built: run npm run web, and start again.\n", {
  status: 503,
  contentType: HTML
})

/** The same response each time, so that its compressed forms and its tag are kept. */
const pageOf = (text: string, status = 200) =>
  HttpServerResponse.text(text, { status, contentType: HTML, headers: pageHeaders })

const fileOf = (name: string, bytes: Uint8Array) =>
  HttpServerResponse.uint8Array(bytes, {
    contentType: types[extname(name)] ?? "application/octet-stream",
    headers: { "cache-control": "public, max-age=31536000, immutable" }
  })

const bare = HttpServerResponse.empty({ status: 404 })

/** True when a caller prefers a page to Markdown. A browser names `text/html`; other programs rarely do. */
export const prefersPage = (accept: string | undefined): boolean => {
  const weightOf = (type: string): number => {
    const range = accept?.split(",").find((part) => part.split(";")[0]?.trim().toLowerCase() === type)
    return range === undefined ? 0 : Number(/;\s*q=([\d.]+)/u.exec(range)?.[1] ?? "1")
  }
  const page = weightOf("text/html")
  return page > 0 && page >= weightOf("text/markdown")
}

const byAccept = { vary: "accept" }

/** The changes of the contract: a page in a browser, Markdown elsewhere. */
const changesAs = (page: HttpServerResponse.HttpServerResponse) => {
  const dated = HttpServerResponse.setHeaders(page, byAccept)
  const plain = HttpServerResponse.text(changelog(), {
    contentType: "text/markdown; charset=utf-8",
    headers: byAccept
  })
  return Effect.map(HttpServerRequest.HttpServerRequest, (request) =>
    prefersPage(rawHeader(request, "accept")) ? dated : plain
  )
}

/** The app with status 404 for a browser at an unknown address. Programs, and addresses of the API, get a bare 404. */
const unknownAs = (page: HttpServerResponse.HttpServerResponse) =>
  Effect.map(HttpServerRequest.HttpServerRequest, (request) =>
    !request.url.startsWith("/api/") && prefersPage(rawHeader(request, "accept")) ? page : bare
  )

/** Reads the built pages when the layer is built, and serves them. */
export const layer: Layer.Layer<never, never, HttpRouter.HttpRouter> = Layer.unwrap(
  Effect.sync(() => {
    const built = readBuilt()
    const page = built === null ? notBuilt : pageOf(built.page)
    const absent = built === null ? notBuilt : pageOf(built.page, 404)
    const exists = pageTest()
    const routedPage = Effect.map(HttpRouter.params, (params) => (exists(params) ? page : absent))
    const files = new Map(Array.from(built?.files ?? [], ([name, bytes]) => [name, fileOf(name, bytes)]))
    const missing = HttpServerResponse.text("There is no such file.\n", { status: 404, contentType: HTML })
    const file = Effect.map(HttpRouter.params, ({ file = "" }) => files.get(file) ?? missing)
    return HttpRouter.addAll([
      ...routed.map((path) => HttpRouter.route("GET", path, path.includes(":") ? routedPage : page)),
      HttpRouter.route("GET", "*", unknownAs(absent)),
      HttpRouter.route("GET", CHANGES, changesAs(page)),
      HttpRouter.route("GET", FILES, file)
    ])
  })
)
