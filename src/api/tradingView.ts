/**
 * What TradingView's charting library has to know about our symbols: shared by the HTTP protocol UDF and the datafeed
 * module. A symbol is a mint; it may stand behind `SOLANA:`.
 */
import type { ChartResolution } from "./schemas/Chart.ts"

export const EXCHANGE = "Solana"

/** The most bars of one answer. */
export const MOST_BARS = 1500

/** Our resolution of each of theirs. A number is minutes. */
const resolutions: Readonly<Record<string, ChartResolution>> = {
  "1S": "1s",
  "5S": "5s",
  "15S": "15s",
  "30S": "30s",
  "1": "1m",
  "3": "3m",
  "5": "5m",
  "15": "15m",
  "30": "30m",
  "60": "1h",
  "120": "2h",
  "240": "4h",
  "360": "6h",
  "480": "8h",
  "720": "12h",
  "1D": "1d",
  "1W": "1w",
  "1M": "1mn"
}

/** Their resolutions. */
export const supported: ReadonlyArray<string> = Object.keys(resolutions)

const intraday = supported.filter((resolution) => /^\d+$/u.test(resolution))
const seconds = supported.filter((resolution) => resolution.endsWith("S")).map((resolution) => resolution.slice(0, -1))

/** Our resolution of one of theirs. `D` means `1D`, as in older versions of the library. */
export const resolutionOf = (text: string): ChartResolution | undefined =>
  resolutions[/^[DWMS]$/u.test(text) ? `1${text}` : text]

/** Digits after the point that show six significant digits of a price, at least two and at most sixteen. */
const digitsOf = (price: number | null): number =>
  price === null || price <= 0 ? 9 : Math.min(16, Math.max(2, 5 - Math.floor(Math.log10(price))))

/** The parts of a token that a symbol shows. */
export interface SymbolToken {
  readonly address: string
  readonly symbol: string | null
  readonly name: string | null
}

/** A symbol as the library describes it. `priceUsd` decides how many digits are shown; null when it is unknown. */
export const symbolInfoOf = (token: SymbolToken, priceUsd: number | null) => {
  const name = token.symbol ?? token.address
  return {
    name,
    ticker: token.address,
    full_name: `${EXCHANGE}:${name}`,
    description: token.name ?? token.address,
    type: "crypto",
    session: "24x7",
    timezone: "Etc/UTC",
    exchange: EXCHANGE,
    listed_exchange: EXCHANGE,
    format: "price",
    minmov: 1,
    pricescale: 10 ** digitsOf(priceUsd),
    has_intraday: true,
    has_seconds: true,
    seconds_multipliers: seconds,
    intraday_multipliers: intraday,
    has_daily: true,
    has_weekly_and_monthly: true,
    has_empty_bars: false,
    supported_resolutions: supported,
    volume_precision: 2,
    data_status: "streaming",
    currency_code: "USD"
  } as const
}

/** One row of a search for symbols. */
export const searchRowOf = (token: SymbolToken) => ({
  symbol: token.symbol ?? token.address,
  full_name: `${EXCHANGE}:${token.address}`,
  description: token.name ?? token.address,
  exchange: EXCHANGE,
  ticker: token.address,
  type: "crypto"
})

/** A symbol without the exchange before it. */
export const withoutExchange = (symbol: string): string => symbol.slice(symbol.lastIndexOf(":") + 1)
