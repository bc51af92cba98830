/** Trades for tests: a plausible tape from a seed, and short ways to write one trade. */
import { type Address, addressFromBytes } from "../../../src/domain/Address.ts"
import { TradeRecord } from "../../../src/market/model/TradeRecord.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"

/** A Monday, in seconds since the Unix epoch: 2026-10-05 00:00 UTC. */
export const MONDAY = 1_791_158_400

/** The `n`th address of a family. */
export const address = (family: number, n: number): Address => {
  const bytes = new Uint8Array(32).fill(1)
  bytes[0] = family
  new DataView(bytes.buffer).setUint32(8, n)
  return addressFromBytes(bytes)
}

export const mintOf = (n: number): Address => address(1, n)
export const walletOf = (n: number): Address => address(2, n)

/** A trade of one token for a dollar at `MONDAY`, with these changes. */
export const trade = (given: Partial<TapeTrade> = {}): TapeTrade => ({
  role: "both",
  signature: "signature",
  slot: 1,
  index: 0,
  timeMs: MONDAY * 1000,
  wallet: walletOf(1),
  mint: mintOf(1),
  side: "buy",
  amount: 1_000_000n,
  decimals: 6,
  lamports: 10_000_000n,
  priceUsd: 1,
  volumeUsdNanos: 1_000_000_000n,
  pool: null,
  dex: "Raydium",
  launchpad: null,
  solUsdNanos: null,
  ...given
})

/** The record of a trade of token 1. */
export const record = (given: Partial<TapeTrade> = {}): TradeRecord => {
  const filled = new TradeRecord()
  filled.read(trade(given))
  filled.token = 1
  return filled
}

/** A small generator of reproducible numbers in [0, 1). */
export const seededRandom = (seed: number): (() => number) => {
  const state = { word: seed >>> 0 }
  return () => {
    state.word = (state.word + 0x6d2b79f5) >>> 0
    const mixed = Math.imul(state.word ^ (state.word >>> 15), 1 | state.word)
    const again = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((again ^ (again >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The shape of a generated tape. */
export interface TapeShape {
  readonly seed: number
  readonly trades: number
  readonly tokens: number
  readonly wallets: number
  /** Mean seconds between trades. */
  readonly paceSeconds: number
  readonly startMs?: number
}

const dexes = ["Raydium", "Whirlpool", "Meteora"]

/** Trades in the order of the chain: wandering prices, a few of them unknown, and volumes from dust to whales. */
export const makeTape = (shape: TapeShape): ReadonlyArray<TapeTrade> => {
  const roll = seededRandom(shape.seed)
  const prices = new Map<number, number>()
  const state = { timeMs: shape.startMs ?? MONDAY * 1000, slot: 1000 }
  return Array.from({ length: shape.trades }, (_, index) => {
    state.timeMs += Math.floor(roll() * 2 * shape.paceSeconds * 1000)
    state.slot += roll() < 0.5 ? 1 : 0
    const token = Math.floor(roll() ** 2 * shape.tokens)
    const price = (prices.get(token) ?? 1 / (token + 1)) * (0.9 + roll() * 0.21)
    prices.set(token, price)
    const amount = BigInt(Math.floor(10 ** (roll() * 13))) + 1n
    const known = roll() < 0.95
    const inDollars = roll() < 0.1
    const dollars = (Number(amount) / 1e6) * price
    return trade({
      signature: `signature-${index}`,
      slot: state.slot,
      index,
      timeMs: state.timeMs,
      wallet: walletOf(Math.floor(roll() ** 2 * shape.wallets)),
      mint: mintOf(token),
      side: roll() < 0.55 ? "buy" : "sell",
      amount,
      lamports: inDollars ? null : amount / 3n + 1n,
      solUsdNanos: inDollars && roll() < 0.8 ? 140_000_000_000n + BigInt(Math.floor(roll() * 1e10)) : null,
      priceUsd: known ? price : null,
      volumeUsdNanos: known ? BigInt(Math.floor(dollars * 1e9)) : null,
      dex: dexes[Math.floor(roll() * dexes.length)] ?? null,
      launchpad: roll() < 0.3 ? "pump" : null
    })
  })
}

/** The same trades, each moved by up to `reach` places. */
export const shuffledWithin = (
  trades: ReadonlyArray<TapeTrade>,
  reach: number,
  seed: number
): ReadonlyArray<TapeTrade> => {
  const roll = seededRandom(seed)
  return trades
    .map((trade, place) => ({ trade, place: place + roll() * reach }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ trade }) => trade)
}
