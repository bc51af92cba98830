/** Decoded trades for benchmarks: seeded, with wallets that have habits, as fresh in memory as a decoder leaves them. */
import { type Address, addressFromBytes } from "../../src/domain/Address.ts"
import type { TapeTrade } from "../../src/market/model/TapeTrade.ts"

/** When the made-up market opens, in milliseconds since the Unix epoch. */
export const OPENING_MS = 1_791_158_400_000

const dexes = ["Raydium", "Raydium CPMM", "Whirlpool", "Meteora DLMM", "PumpSwap", "Pump.fun"]

/** The shape of the market. */
export interface MarketShape {
  readonly seed: number
  readonly tokens: number
  readonly wallets: number
  /** Tokens that one wallet trades. */
  readonly habits: number
  /** The inequality of tokens: 1 trades them all alike; at 3 a tenth of them makes almost half of the trades. */
  readonly skew: number
  /** Trades a second by the clock of the chain. */
  readonly pace: number
}

const seededRandom = (seed: number): (() => number) => {
  const state = { word: seed >>> 0 }
  return () => {
    state.word = (state.word + 0x6d2b79f5) >>> 0
    const mixed = Math.imul(state.word ^ (state.word >>> 15), 1 | state.word)
    const again = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((again ^ (again >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A copy that shares nothing with the original: a decoder makes a new string for every address it reads. */
const fresh = (address: Address): Address => addressText(Buffer.from(address, "latin1"))

const addressText = (bytes: Buffer): Address => bytes.toString("latin1") as Address

/** Makes the next trades of the market, as many as requested. */
export const openMarket = (shape: MarketShape): ((many: number) => ReadonlyArray<TapeTrade>) => {
  const roll = seededRandom(shape.seed)
  const pick = (many: number, skew: number) => Math.floor(roll() ** skew * many)
  const addresses = (many: number) =>
    Array.from({ length: many }, () => addressFromBytes(Uint8Array.from({ length: 32 }, () => pick(256, 1))))
  const mints = addresses(shape.tokens)
  const wallets = addresses(shape.wallets)
  const habits = Uint32Array.from({ length: shape.wallets * shape.habits }, () => pick(shape.tokens, shape.skew))
  const state = { made: 0 }

  const next = (): TapeTrade => {
    const index = state.made++
    const wallet = pick(shape.wallets, 2)
    const token = habits[wallet * shape.habits + pick(shape.habits, 1)] ?? 0
    const lamports = BigInt(Math.floor(10 ** (6 + roll() * 4)))
    const price = 0.0001 * (0.9 + roll() * 0.2)
    return {
      role: "both",
      signature: "",
      slot: 300_000_000 + Math.floor((index / shape.pace) * 2.5),
      index: index % 4096,
      timeMs: OPENING_MS + Math.floor((index * 1000) / shape.pace),
      wallet: fresh(wallets[wallet] ?? addressText(Buffer.alloc(32))),
      mint: fresh(mints[token] ?? addressText(Buffer.alloc(32))),
      side: roll() < 0.55 ? "buy" : "sell",
      amount: (lamports * 1_400_000n) / BigInt(Math.floor(price * 1e9)),
      decimals: 6,
      lamports,
      priceUsd: price,
      volumeUsdNanos: lamports * 140n,
      pool: null,
      dex: dexes[pick(dexes.length, 1)] ?? null,
      launchpad: roll() < 0.4 ? "pump" : null,
      solUsdNanos: null
    }
  }
  return (many) => Array.from({ length: many }, next)
}
