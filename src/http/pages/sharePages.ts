/** Share pages as HTML. User input only appears as escaped text. */
import { Hash } from "effect"
import { type Callout, httpsUrl } from "../../api/schemas/Callout.ts"
import { fromAtomic } from "../../domain/decimal.ts"
import { USD_DIGITS } from "../../domain/units.ts"
import { Html, html } from "./html.ts"
import { cssPath, signPath } from "./shareStyle.ts"
import { countText, dateText, excerpt, initial, priceText, timeText, usdText, visible } from "./shareText.ts"

/** A page and the origins of its images, for its content security policy. */
export interface Page {
  readonly text: string
  readonly origins: ReadonlyArray<string>
}

const TITLE_LENGTH = 70
const DESCRIPTION_LENGTH = 200
const HUES = 8

const NOTHING = html``

const pageOf = (head: Html, main: Html): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
        <meta name="color-scheme" content="light dark" />
        <meta name="theme-color" content="#f3f5f4" media="(prefers-color-scheme: light)" />
        <meta name="theme-color" content="#0b1413" media="(prefers-color-scheme: dark)" />
        <meta name="referrer" content="no-referrer" />
        <link rel="icon" type="image/svg+xml" href="${signPath}" />
        <link rel="stylesheet" href="${cssPath}" />
        ${head}
      </head>
      <body>
        <header class="top">
          <a class="brand" href="/docs"><img src="${signPath}" alt="" width="28" height="28" />Fathom</a>
        </header>
        <main>${main}</main>
        <footer class="end">Market data by <a href="/docs">Fathom</a></footer>
      </body>
    </html> `.text

const hueOf = (text: string): number => (Hash.string(text) >>> 0) % HUES

/** An image over an initial. The initial shows while the image is missing. */
const face = (options: {
  readonly url: URL | null
  readonly name: string
  readonly seed: string
  readonly kind: string
}) => {
  const picture =
    options.url === null
      ? NOTHING
      : html`<img src="${options.url.href}" alt="" referrerpolicy="no-referrer" decoding="async" />`
  return html`<div class="face ${options.kind} hue-${hueOf(options.seed)}">
    <span aria-hidden="true">${initial(options.name)}</span>
    ${picture}
  </div>`
}

const time = (timeMs: number, words = timeText): Html =>
  html`<time datetime="${new Date(timeMs).toISOString()}">${words(timeMs)}</time>`

const fact = (name: string, value: Html, kind = "fact"): Html =>
  html`<div class="${kind}">
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`

const sum = (nanos: bigint): Html => html`<data value="${fromAtomic(nanos, USD_DIGITS)}">${usdText(nanos)}</data>`

const count = (value: number | bigint): Html => html`<data value="${String(value)}">${countText(value)}</data>`

/** Short name of the token: its symbol, otherwise its name, otherwise its shortened address. */
const shortName = ({ mint, tokenName, tokenSymbol }: Callout): string =>
  tokenSymbol === null ? (tokenName ?? `${mint.slice(0, 4)}…${mint.slice(-4)}`) : `$${tokenSymbol}`

/** Metadata for link previews. The URL is omitted when the base URL is unknown. */
const preview = (callout: Callout, url: string | null): Html => {
  const title = excerpt(`${shortName(callout)} called by ${callout.creator.displayName}`, TITLE_LENGTH)
  const description = excerpt(callout.body, DESCRIPTION_LENGTH)
  const image = httpsUrl(callout.tokenImageUrl ?? "")?.href
  const meta = (attribute: "name" | "property", key: string, value: string | null | undefined): Html =>
    value === null || value === undefined ? NOTHING : html`<meta ${new Html(attribute)}="${key}" content="${value}" /> `
  return html`<title>${title} · Fathom</title>
    ${url === null ? NOTHING : html`<link rel="canonical" href="${url}" /> `}${[
      meta("name", "description", description),
      meta("property", "og:type", "article"),
      meta("property", "og:site_name", "Fathom"),
      meta("property", "og:title", title),
      meta("property", "og:description", description),
      meta("property", "og:url", url),
      meta("property", "og:image", image),
      meta("property", "article:published_time", new Date(callout.createdAtMs).toISOString()),
      meta("name", "twitter:card", "summary"),
      meta("name", "twitter:title", title),
      meta("name", "twitter:description", description),
      meta("name", "twitter:image", image)
    ]}`
}

const callHeader = (callout: Callout, avatar: URL | null, image: URL | null): Html => {
  const { creator, mint, tokenName, tokenSymbol } = callout
  const heading = visible(tokenName ?? tokenSymbol ?? shortName(callout))
  return html`<div class="call">
    <div class="who">
      ${face({ url: avatar, name: creator.displayName, seed: creator.id, kind: "person" })}
      <div>
        <bdi class="name">${visible(creator.displayName)}</bdi>
        <div class="by"><bdi>@${visible(creator.username)}</bdi> · ${time(callout.createdAtMs, dateText)}</div>
      </div>
    </div>
    <div class="token">
      ${face({ url: image, name: heading, seed: mint, kind: "coin" })}
      <div>
        <h1><bdi>${heading}</bdi></h1>
        ${tokenSymbol === null ? NOTHING : html`<bdi class="symbol">$${visible(tokenSymbol)}</bdi>`}
      </div>
    </div>
    <p class="words" dir="auto">${visible(callout.body)}</p>
  </div>`
}

const figures = (callout: Callout): Html => {
  const { priceUsdAtCreate: price } = callout
  const atCall = price === null ? html`Unknown` : html`<data value="${price}">${priceText(price)}</data>`
  return html`<dl class="sums">
      ${fact("Volume", sum(callout.attributedVolumeUsdNanos))} ${fact("Traders", count(callout.traderCount))}
      ${fact("Clicks", count(callout.clickCount))} ${fact("Price at call", atCall)}
      ${fact("Earned", sum(callout.earnedUsdNanos))} ${fact("Points", count(callout.pointsAwarded))}
    </dl>
    <dl class="facts">
      ${fact("Token address", html`<code>${callout.mint}</code>`, "wide")} ${fact("Called", time(callout.createdAtMs))}
      ${fact("Active until", time(callout.expiresAtMs))}
    </dl>`
}

/** The page of one callout. `base` is the base URL of the service; null when unknown. */
export const calloutPage = (callout: Callout, base: string | null): Page => {
  // Checked again here, because a page must not rely on the store's validation.
  const avatar = httpsUrl(callout.creator.avatarUrl ?? "")
  const image = httpsUrl(callout.tokenImageUrl ?? "")
  const head = preview(callout, base === null ? null : `${base}/c/${callout.id}`)
  const main = html`<article class="card">${callHeader(callout, avatar, image)} ${figures(callout)}</article>
    <p class="fine">
      This text was written by its author. It is not verified and is not advice. Volume counts settled trades that are
      attributed to this callout.
    </p>`
  const origins = [avatar, image].flatMap((url) => (url === null ? [] : [url.origin]))
  return { text: pageOf(head, main), origins: Array.from(new Set(origins)) }
}

/** A page of one sentence, under its status. */
export const noticePage = (code: string, title: string, sentence: string): Page => {
  const head = html`<title>${title} · Fathom</title> <meta name="robots" content="noindex" />`
  const main = html`<section class="card lost">
    <p class="code">${code}</p>
    <h1>${title}</h1>
    <p>${sentence}</p>
  </section>`
  return { text: pageOf(head, main), origins: [] }
}

/** The 404 page, the same for every reason. */
export const missingPage = noticePage(
  "404",
  "Callout not found",
  "It may have expired or been taken down, or the link may be incomplete."
)

/** The 503 page. */
export const unavailablePage = noticePage(
  "503",
  "Callouts are unavailable",
  "The service cannot read callouts at the moment. Please try again."
)
