/** Files that programs ask any web server for: `robots.txt`, `favicon.ico` and `/.well-known/security.txt`. */
import { Clock, Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Settings } from "../Settings.ts"
import { favicon } from "./favicon.ts"

const ROBOTS = "/robots.txt"
const ICON = "/favicon.ico"
const SECURITY = "/.well-known/security.txt"

/** Paths of these files. */
export const pages = [ROBOTS, ICON, SECURITY] as const

/** Pages may be indexed. The API and what else answers programs may not. */
const robots = HttpServerResponse.text(
  ["User-agent: *", "Disallow: /api/", "Disallow: /compat/", "Disallow: /mcp", ""].join("\n"),
  { contentType: "text/plain; charset=utf-8" }
)

const icon = HttpServerResponse.uint8Array(favicon, {
  contentType: "image/x-icon",
  headers: { "cache-control": "public, max-age=86400" }
})

const DAY_MS = 86_400_000

/** Days for which the contact counts as current. RFC 9116 advises less than a year. */
const CURRENT_DAYS = 90

/** The contact as RFC 9116 writes it. It expires `CURRENT_DAYS` after the day that is asked, in UTC. */
const security = (contact: string, publicUrl: string | null) =>
  Effect.map(Clock.currentTimeMillis, (nowMs) => {
    const expires = new Date(Math.floor(nowMs / DAY_MS) * DAY_MS + CURRENT_DAYS * DAY_MS)
    const lines = [
      `Contact: ${contact}`,
      `Expires: ${expires.toISOString()}`,
      "Preferred-Languages: en",
      ...(publicUrl === null ? [] : [`Canonical: ${publicUrl}${SECURITY}`])
    ]
    return HttpServerResponse.text(`${lines.join("\n")}\n`, { contentType: "text/plain; charset=utf-8" })
  })

/** A page, because every other 404 gets the error envelope. */
const noContact = HttpServerResponse.text("The operator has named no contact (SECURITY_CONTACT).\n", {
  status: 404,
  contentType: "text/html; charset=utf-8"
})

/** Serves the files. Without `SECURITY_CONTACT` there is no `security.txt`: a made-up contact would lose reports. */
export const layer: Layer.Layer<never, never, HttpRouter.HttpRouter | Settings> = Layer.unwrap(
  Effect.map(Settings, ({ publicUrl, securityContact }) =>
    HttpRouter.addAll([
      HttpRouter.route("GET", ROBOTS, Effect.succeed(robots)),
      HttpRouter.route("GET", ICON, Effect.succeed(icon)),
      HttpRouter.route(
        "GET",
        SECURITY,
        securityContact === null ? Effect.succeed(noContact) : security(securityContact, publicUrl)
      )
    ])
  )
)
