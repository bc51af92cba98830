/** Simulated candles of EVM tokens. Minutes derive from a seed, and wider candles are made from minutes. */
import { inventBytes } from "../chain/addresses.ts"

export interface SimEvmToken {
  readonly chain: string
  /** `0x` and 40 lower-case hex digits. */
  readonly address: string
  readonly symbol: string
  readonly name: string
  readonly decimals: number
  /** Whole tokens as decimal text; null when unknown. */
  readonly totalSupply: string | null
  /** Unix time of the first trade, in seconds. */
  readonly bornAt: number
}

const chains = ["ethereum", "base", "bsc", "arbitrum", "polygon", "avalanche", "optimism"] as const

const coins = [
  { symbol: "ANVL", name: "Anvil", decimals: 18, totalSupply: "250000000" },
  { symbol: "KELP", name: "Kelp Forest", decimals: 6, totalSupply: "1000000000.5" },
  { symbol: "MUTE", name: "Mute Swan", decimals: 9, totalSupply: null }
] as const

/** 2026-01-01 00:00 UTC. */
const OLDEST = 1_767_225_600
const DAY = 86_400

/** Three tokens for every chain. The same seed gives the same tokens. */
export const evmTokens = (seed: string): ReadonlyArray<SimEvmToken> =>
  chains.flatMap((chain) =>
    coins.map((coin, at) => ({
      ...coin,
      chain,
      address: `0x${Buffer.from(inventBytes(seed, `evm ${chain} ${coin.symbol}`))
        .toString("hex")
        .slice(0, 40)}`,
      bornAt: OLDEST + at * DAY
    }))
  )

/** Start, open, high, low, close in USD, and the volume in USD. */
export type SimCandle = readonly [number, number, number, number, number, number]

/** Widths of the source's candles in seconds. */
export const evmWidths: ReadonlyMap<string, number> = new Map([
  ["1m", 60],
  ["5m", 300],
  ["15m", 900],
  ["1h", 3600],
  ["4h", 14_400],
  ["1d", DAY]
])

const mix = (salt: number, minute: number): number => {
  let hash = Math.imul(salt ^ minute, 0x9e3779b1)
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b)
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32
}

const saltOf = ({ address }: SimEvmToken): number => Number.parseInt(address.slice(2, 10), 16) | 0

/**
 * The price at the start of a minute: slow waves and a little noise. It has six significant digits, as venues write
 * prices.
 */
const priceAt = (salt: number, minute: number): number => {
  const base = 10 ** ((salt >>> 8) % 4) / 1000
  const waves = Math.sin(minute / 9000 + salt) / 3 + Math.sin(minute / 700) / 20 + mix(salt, minute) / 200
  return Number((base * Math.exp(waves)).toPrecision(6))
}

/** True for one minute in eight, and from two to four in the morning UTC. Quiet minutes have no trades. */
const isQuiet = (salt: number, minute: number): boolean =>
  mix(salt + 1, minute) < 1 / 8 || Math.floor((minute % 1440) / 120) === 1

const minuteCandle = (salt: number, minute: number): SimCandle => {
  const open = priceAt(salt, minute)
  const close = priceAt(salt, minute + 1)
  const reach = 1 + mix(salt + 2, minute) / 100
  const volume = Math.round(mix(salt + 3, minute) * 1_000_000) / 100
  return [minute * 60, open, Math.max(open, close) * reach, Math.min(open, close) / reach, close, volume]
}

const join = (start: number, a: SimCandle, b: SimCandle): SimCandle => [
  start,
  a[1],
  Math.max(a[2], b[2]),
  Math.min(a[3], b[3]),
  b[4],
  a[5] + b[5]
]

/** Selects the newest `limit` candles that start in `[from, to)`, without future ones. */
export interface SimCandleQuery {
  readonly width: number
  readonly from: number
  readonly to: number
  readonly limit: number
  readonly now: number
}

/** A token's candles, oldest first. A candle is missing when all its minutes were quiet. */
export const evmCandles = (token: SimEvmToken, query: SimCandleQuery): ReadonlyArray<SimCandle> => {
  const salt = saltOf(token)
  const { from, limit, now, to, width } = query
  const first = Math.ceil(Math.max(from, token.bornAt) / width) * width
  const found: Array<SimCandle> = []
  for (let start = Math.floor((Math.min(to, now + 1) - 1) / width) * width; start >= first; start -= width) {
    let candle: SimCandle | null = null
    for (let minute = start / 60; minute < (start + width) / 60 && minute * 60 <= now; minute++) {
      if (!isQuiet(salt, minute)) {
        const one = minuteCandle(salt, minute)
        candle = candle === null ? [start, ...dropStart(one)] : join(start, candle, one)
      }
    }
    if (candle !== null) {
      found.push(candle)
    }
    if (found.length === limit) {
      break
    }
  }
  return found.toReversed()
}

const dropStart = ([, open, high, low, close, volume]: SimCandle) => [open, high, low, close, volume] as const
