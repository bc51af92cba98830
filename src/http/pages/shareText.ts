/** Formats text, numbers and times for share pages. Amounts are rounded for reading only. */
import { uiNumber } from "../../domain/decimal.ts"
import { USD_DIGITS } from "../../domain/units.ts"

/** Control characters except line ends, and characters that change text direction. */
const INVISIBLE = /(?!\n)\p{Cc}|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** User text without invisible and direction characters. */
export const visible = (text: string): string => text.replaceAll(INVISIBLE, "")

const graphemes = (text: string): ReadonlyArray<string> =>
  Array.from(new Intl.Segmenter("en").segment(text), ({ segment }) => segment)

const onOneLine = (text: string): string => visible(text).replaceAll(/\s+/gu, " ").trim()

/** User text on one line, cut between graphemes to at most `most`. */
export const excerpt = (text: string, most: number): string => {
  const characters = graphemes(onOneLine(text))
  const kept = characters
    .slice(0, most - 1)
    .join("")
    .trimEnd()
  return characters.length <= most ? characters.join("") : `${kept}…`
}

/** The first grapheme of a name in upper case, in place of an image. */
export const initial = (name: string): string => graphemes(onOneLine(name))[0]?.toUpperCase() ?? "?"

const exactUsd = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" })
const compactUsd = new Intl.NumberFormat("en-US", {
  style: "currency",
  currency: "USD",
  notation: "compact",
  maximumFractionDigits: 2
})
const smallUsd = new Intl.NumberFormat("en-US", {
  style: "currency",
  currency: "USD",
  minimumSignificantDigits: 2,
  maximumSignificantDigits: 4
})
const digits = new Intl.NumberFormat("en-US")
const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 })
const day = { timeZone: "UTC", day: "numeric", month: "short", year: "numeric" } as const
const date = new Intl.DateTimeFormat("en-GB", day)
const moment = new Intl.DateTimeFormat("en-GB", { ...day, hour: "2-digit", minute: "2-digit" })

/** Dollars: to the cent below a thousand, then in thousands, millions and so on. */
export const usdText = (nanos: bigint): string => {
  const usd = uiNumber(nanos, USD_DIGITS)
  return usd < 1000 ? exactUsd.format(usd) : compactUsd.format(usd)
}

/** Price of one token: to the cent from one dollar on, below that to four significant digits. */
export const priceText = (price: string): string => (Number(price) < 1 ? smallUsd : exactUsd).format(Number(price))

/** A count: all digits below ten thousand. */
export const countText = (count: number | bigint): string => (count < 10_000 ? digits : compact).format(count)

/** A time as text, in UTC. */
export const timeText = (timeMs: number): string => `${moment.format(timeMs)} UTC`

/** A date as text, in UTC. */
export const dateText = (timeMs: number): string => date.format(timeMs)
