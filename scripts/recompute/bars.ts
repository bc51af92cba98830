/** Minute candles in SOL from raw legs. Prices are exact fractions until they are compared. */
import { type RawLeg, SOL } from "./legs.ts"

/** Mints that count as a dollar, of 6 decimals. */
export const DOLLARS: ReadonlyArray<string> = [
  "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB",
  "USD1ttGY1N17NEEHLmELoaybftRBUSErhqYiQzvEmuB",
  "2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo"
]

/** A leg from the side of its token. */
export interface SidedLeg {
  readonly mint: string
  readonly isBuy: boolean
  readonly amount: bigint
  readonly quote: { readonly mint: string; readonly amount: bigint }
  readonly pool: string
}

const rank = (mint: string): number =>
  mint === SOL ? 1 : DOLLARS.includes(mint) ? 2 + DOLLARS.indexOf(mint) * -0.1 : 0

/** The token is the mint that is neither SOL nor a dollar; of two such mints the one that was received. */
export const sided = ({ input, output, pool }: RawLeg): SidedLeg =>
  rank(output.mint) > rank(input.mint)
    ? { mint: input.mint, isBuy: false, amount: input.amount, quote: output, pool }
    : { mint: output.mint, isBuy: true, amount: output.amount, quote: input, pool }

/** One minute of one mint. `isNative` while every trade of it was against SOL. */
export interface MinuteBar {
  readonly startMs: number
  readonly trades: number
  readonly buys: number
  readonly lamports: bigint
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly isNative: boolean
}

const LAMPORTS = 1_000_000_000n

/** SOL for a whole token: two exact integers, rounded once each and divided. */
const priceOf = ({ amount, quote }: SidedLeg, decimals: number): number =>
  Number(quote.amount * 10n ** BigInt(decimals)) / Number(amount * LAMPORTS)

/** The bar with one more trade. */
export const withTrade = (
  bar: MinuteBar | undefined,
  leg: SidedLeg,
  { decimals, timeMs }: { readonly decimals: number; readonly timeMs: number }
): MinuteBar => {
  const isNative = leg.quote.mint === SOL
  const price = isNative && leg.amount > 0n && leg.quote.amount > 0n ? priceOf(leg, decimals) : Number.NaN
  const lamports = isNative ? leg.quote.amount : 0n
  if (bar === undefined) {
    return {
      startMs: timeMs - (timeMs % 60_000),
      trades: 1,
      buys: leg.isBuy ? 1 : 0,
      lamports,
      open: price,
      high: price,
      low: price,
      close: price,
      isNative
    }
  }
  const isKnown = !Number.isNaN(price)
  return {
    ...bar,
    trades: bar.trades + 1,
    buys: bar.buys + (leg.isBuy ? 1 : 0),
    lamports: bar.lamports + lamports,
    open: Number.isNaN(bar.open) ? price : bar.open,
    high: isKnown && !(bar.high >= price) ? price : bar.high,
    low: isKnown && !(bar.low <= price) ? price : bar.low,
    close: isKnown ? price : bar.close,
    isNative: bar.isNative && isNative
  }
}
