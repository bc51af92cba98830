/** Share pages as HTML. Whatever a user wrote is text in them and nothing else. */
import { Hash } from "effect"
import { type Callout, httpsUrl } from "../../domain/wallets/Callout.ts"
import { fromAtomic } from "../../domain/decimal.ts"
import { USD_DIGITS } from "../../domain/units.ts"
import { Html, html } from "./html.ts"
import { cssPath, signPath } from "./shareStyle.ts"
import { countText, dateText, excerpt, initial, priceText, timeText, usdText, visible } from "./shareText.ts"

/** A page, and where the pictures on it come from: origins for its content security policy. */
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

/** A picture over the initial that stands in for it while it is loading, or when it never comes. */
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

/** What people call the token: its symbol, else its name, else the beginning of its address. */
const shortName = ({ mint, tokenName, tokenSymbol }: Callout): string =>
  tokenSymbol === null ? (tokenName ?? `${mint.slice(0, 4)}…${mint.slice(-4)}`) : `$${tokenSymbol}`

/** What other sites show of the page. The address is left out when we do not know where we are. */
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

const whoAndWhat = (callout: Callout, avatar: URL | null, image: URL | null): Html => {
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

/** The page of one callout. `base` is where the service is reached; null when that is not known. */
export const calloutPage = (callout: Callout, base: string | null): Page => {
  // Checked once more where it matters: a page must not depend on what a store has let in.
  const avatar = httpsUrl(callout.creator.avatarUrl ?? "")
  const image = httpsUrl(callout.tokenImageUrl ?? "")
  const head = preview(callout, base === null ? null : `${base}/c/${callout.id}`)
  const main = html`<article class="card">${whoAndWhat(callout, avatar, image)} ${figures(callout)}</article>
    <p class="fine">
      These are the words of their author. Nobody has checked them, and they are no advice. Volume counts the trades
      that came of this callout and have settled.
    </p>`
  const origins = [avatar, image].flatMap((url) => (url === null ? [] : [url.origin]))
  return { text: pageOf(head, main), origins: Array.from(new Set(origins)) }
}

const notice = (code: string, title: string, sentence: string): Page => {
  const head = html`<title>${title} · Fathom</title> <meta name="robots" content="noindex" />`
  const main = html`<section class="card lost">
    <p class="code">${code}</p>
    <h1>${title}</h1>
    <p>${sentence}</p>
  </section>`
  return { text: pageOf(head, main), origins: [] }
}

/** The page of every callout that cannot be shown, whatever the reason. */
export const missingPage = notice(
  "404",
  "This callout is not here",
  "It may have expired or been taken down, or the link may be incomplete."
)

/** The page when callouts cannot be read. */
export const unavailablePage = notice(
  "503",
  "Callouts cannot be read right now",
  "This is on our side and should not last. Please try again in a moment."
)
