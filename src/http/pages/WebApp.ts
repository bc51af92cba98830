/** The app: one page for every address that the browser routes, and the files that it loads. */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { readdirSync, readFileSync } from "node:fs"
import { extname } from "node:path"
import { rawHeader } from "../middleware/rawHeader.ts"
import { pages as documents } from "./ApiDocument.ts"
import { changelog } from "./changelog.ts"

/** Addresses that the browser routes. */
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
  "/settings/:section"
] as const

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
const pageOf = (text: string) => HttpServerResponse.text(text, { contentType: HTML, headers: pageHeaders })

const fileOf = (name: string, bytes: Uint8Array) =>
  HttpServerResponse.uint8Array(bytes, {
    contentType: types[extname(name)] ?? "application/octet-stream",
    headers: { "cache-control": "public, max-age=31536000, immutable" }
  })

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

/** Reads the built pages when the layer is built, and serves them. */
export const layer: Layer.Layer<never, never, HttpRouter.HttpRouter> = Layer.unwrap(
  Effect.sync(() => {
    const built = readBuilt()
    const page = built === null ? notBuilt : pageOf(built.page)
    const files = new Map(Array.from(built?.files ?? [], ([name, bytes]) => [name, fileOf(name, bytes)]))
    const missing = HttpServerResponse.text("There is no such file.\n", { status: 404, contentType: HTML })
    const file = Effect.map(HttpRouter.params, ({ file = "" }) => files.get(file) ?? missing)
    return HttpRouter.addAll([
      ...routed.map((path) => HttpRouter.route("GET", path, page)),
      HttpRouter.route("GET", CHANGES, changesAs(page)),
      HttpRouter.route("GET", FILES, file)
    ])
  })
)
