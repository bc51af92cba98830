/**
 * The processor time of searches over 100,000 mints with names; 20,000 of them trade and have a pool in memory: symbols, their
 * beginnings, words, copies of a popular symbol, typing errors, addresses and random text, each as the JSON of its first page.
 * Searches are the first argument (2,000), `--json` for one line. Fails when the 99th percentile is over 20 ms.
 */
import { Effect, Layer } from "effect"
import { type Address, addressFromBytes, SOL } from "../../src/domain/Address.ts"
import type { Pool } from "../../src/programs/interface/Program.ts"
import { type SearchSelectors } from "../../src/market/reads/searchView.ts"
import { TokenSearch } from "../../src/market/reads/TokenSearch.ts"
import { Market } from "../../src/market/tape/Market.ts"
import { Tape } from "../../src/market/tape/Tape.ts"
import { PoolBook } from "../../src/quotes/pools/PoolBook.ts"
import { PriceBook } from "../../src/tokens/PriceBook.ts"
import { TokenBook } from "../../src/tokens/TokenBook.ts"
import { percentile, report } from "./report.ts"
import { countArgument } from "../options.ts"

const SEARCHES = countArgument("The number of searches", 2000)
/** With SOL and four dollars, which the index always has. */
const MINTS = 99_995
const TRADED = 20_000
const TARGET_MS = 20
/** Each hundredth mint copies the symbol of a popular one. */
const COPIES = 100

let seed = 42
const next = (bound: number): number => (seed = (seed * 48_271) % 2_147_483_647) % bound

const LETTERS = ["a", "e", "i", "o", "u"]
const SYLLABLES = [..."bcdfghjklmnprstvwxz"].flatMap((consonant) => LETTERS.map((vowel) => consonant + vowel))
const word = (): string => Array.from({ length: 1 + next(3) }, () => SYLLABLES[next(SYLLABLES.length)]).join("")

const mintOf = (n: number): Address => {
  const bytes = new Uint8Array(32).fill(7)
  new DataView(bytes.buffer).setUint32(0, Math.imul(n + 1, 0x9e3779b1))
  new DataView(bytes.buffer).setUint32(4, n)
  return addressFromBytes(bytes)
}

const POPULAR = ["BONK", "WIF", "POPCAT", "TRUMP", "PEPE", "SOL", "USDC", "JUP"]
const mints = Array.from({ length: MINTS }, (_, n) => mintOf(n))
const names = new Map(
  mints.map((mint, n) => {
    const symbol = n % COPIES === 0 ? (POPULAR[next(POPULAR.length)] ?? "") : word().toUpperCase().slice(0, 10)
    return [mint, { symbol, name: `${word()} ${word()} ${n % 7 === 0 ? word() : ""}`, uri: null }]
  })
)
const traded = new Set(mints.slice(0, TRADED))

const pool = (mint: Address): Pool => ({
  address: mint,
  dex: "raydium-cpmm",
  mintA: mint,
  mintB: SOL,
  slot: 1,
  reserves: [BigInt(1 + next(1_000_000_000)), 10n ** 9n],
  swap: () => ({ ending: "refused", amountIn: 0n, amountOut: 0n }),
  marginalRate: () => ({ numerator: 1n, denominator: 1n })
})
const pools = new Map(mints.slice(0, TRADED).map((mint) => [mint, [pool(mint)]]))
const price = { sol: { numerator: 1n, denominator: 7n }, usd: { numerator: 3n, denominator: 20n } }

let isFilled = false
const HELD = Array.from(names).slice(0, 5000)

const books = Layer.mergeAll(
  Layer.succeed(TokenBook, {
    read: (mint) => {
      const metadata = names.get(mint)
      return metadata === undefined
        ? null
        : { _tag: "Token", facts: null, metadata, observation: { slot: 1, observedAtMs: Date.now() } }
    },
    // All at first, as over days, then those that a token book holds.
    named: () => {
      const held = isFilled ? HELD : Array.from(names)
      isFilled = true
      return held
    },
    commitment: "confirmed",
    warm: () => Effect.void
  }),
  Layer.succeed(PoolBook, {
    between: () => null,
    poolsOf: (mint) => pools.get(mint) ?? [],
    isLoaded: (mint) => traded.has(mint),
    graduationOf: () => null,
    leftOut: () => 0,
    lacking: () => null,
    learn: () => undefined,
    held: () => null,
    executedOf: () => [],
    poolAt: () => null,
    graph: { partnersOf: () => [], poolsBetween: () => [] },
    warm: () => Effect.succeed({ _tag: "Loaded" })
  }),
  Layer.succeed(PriceBook, {
    at: (nowMs) => ({
      of: () => price,
      lifetime: { observedAtMs: nowMs, expiresAtMs: nowMs + 10_000 },
      isStale: false,
      silentMs: 0,
      clock: { slot: 1, epoch: 0, unixTimestamp: 0 }
    }),
    warm: () => Effect.void
  })
)

const tape = Market.layerManual({ tokens: MINTS, bars: 1000, trades: 1000, traders: 1000 })
const layer = TokenSearch.layer.pipe(Layer.provideMerge(tape), Layer.provide(books))

/** A text of each kind in turn. */
const textOf = (n: number): string => {
  const mint = mints[next(MINTS)] ?? ""
  const symbol = names.get(mintOf(next(MINTS)))?.symbol ?? ""
  switch (n % 8) {
    case 0:
      return symbol
    case 1:
      return symbol.slice(0, 1 + next(3))
    case 2:
      return POPULAR[next(POPULAR.length)] ?? ""
    case 3:
      return `${symbol.slice(0, 2)}${symbol.slice(3)}x`
    case 4:
      return mint.slice(0, 3 + next(10))
    case 5:
      return `${word()} ${word()}`
    case 6:
      return word()
    default:
      return Array.from({ length: 8 }, () => word())
        .join("")
        .slice(0, 64)
  }
}

const selectorsOf = (text: string): SearchSelectors => ({
  text,
  minLiquidityUsd: null,
  minVolumeUsd: null,
  minAgeSeconds: null,
  maxAgeSeconds: null,
  venues: null,
  launchpads: null,
  authoritiesRevoked: null
})

const cpuMs = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1000
}

const program = Effect.gen(function* () {
  const market = yield* Tape
  const search = yield* TokenSearch
  const nowMs = Date.now()
  yield* market.apply({ slot: 1, timeMs: nowMs, trades: [], transactions: [], launches: [], afterGap: false })
  const times: Array<number> = []
  let rows = 0
  // The first searches take up the names and compile the code.
  for (let n = -200; n < SEARCHES; n++) {
    const text = textOf(n + 200)
    const before = cpuMs()
    const page = yield* search.search(selectorsOf(text === "" ? "a" : text), { limit: 20, pin: null })
    const bytes = JSON.stringify(page.data, (_, part: unknown) =>
      typeof part === "bigint" ? String(part) : part
    ).length
    if (n >= 0) {
      times.push(cpuMs() - before)
      rows += bytes === 0 ? 0 : page.data.length
    }
  }
  const at = (p: number): number => Number((percentile(times, p) ?? 0).toFixed(2))
  report("search", { searches: SEARCHES, mints: MINTS, rows, p50Ms: at(0.5), p99Ms: at(0.99), mostMs: at(1) })
  if (at(0.99) > TARGET_MS) {
    process.exitCode = 1
  }
})

await Effect.runPromise(Effect.scoped(Effect.provide(program, layer)))
