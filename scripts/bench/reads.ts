/**
 * The rate of market reads in process while 5,000 trades a second arrive: a chart of 300 bars, the lighthouse, a page of
 * movement and the top traders of a token with 50,000 wallets, each as JSON; and the longest delay of the event loop.
 * The first argument is the number of seconds to run (20); `--json` prints one line.
 */
import { Effect, Layer } from "effect"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { setImmediate as nextTurn } from "node:timers/promises"
import type { Pool } from "../../src/programs/interface/Program.ts"
import { type Address, addressFromBytes, SOL } from "../../src/domain/Address.ts"
import { EvmCandles } from "../../src/market/reads/EvmCandles.ts"
import { MarketReader } from "../../src/market/reads/MarketReader.ts"
import type { TapeTrade } from "../../src/market/model/TapeTrade.ts"
import { TopTraders } from "../../src/market/reads/TopTraders.ts"
import { Market } from "../../src/market/tape/Market.ts"
import { Tape } from "../../src/market/tape/Tape.ts"
import { PoolBook } from "../../src/quotes/pools/PoolBook.ts"
import { PriceBook } from "../../src/tokens/PriceBook.ts"
import { TokenBook } from "../../src/tokens/TokenBook.ts"
import { percentile, report } from "./report.ts"
import { openMarket, OPENING_MS } from "./tapeMarket.ts"
import { countArgument } from "../options.ts"

const SECONDS = countArgument("The number of seconds", 20)
const TOKENS = 50_000
const WALLETS = 50_000
const HISTORY = 500_000
/** Trades a second by the clock of the chain: 500,000 are a good hour. */
const HISTORY_PACE = 125
const PER_SECOND = 5000
const BLOCK_MS = 20
const PAUSE_MS = 2

const limits = { tokens: TOKENS + 1000, bars: 2_000_000, trades: 1_500_000, traders: 1_500_000 }

const addressOf = (family: number, n: number): Address => {
  const bytes = new Uint8Array(32).fill(7)
  bytes[0] = family
  new DataView(bytes.buffer).setUint32(8, Math.imul(n + 1, 0x9e3779b1))
  new DataView(bytes.buffer).setUint32(12, n)
  return addressFromBytes(bytes)
}

/** The token that everybody trades. */
const POPULAR = addressOf(1, 0)

const pool = (mint: Address): Pool => ({
  address: addressOf(3, 1),
  dex: "raydium-cpmm",
  mintA: mint,
  mintB: SOL,
  slot: 1,
  reserves: [10n ** 12n, 10n ** 12n],
  swap: () => ({ ending: "refused", amountIn: 0n, amountOut: 0n }),
  marginalRate: () => ({ numerator: 1n, denominator: 1n })
})

const price = { sol: { numerator: 1n, denominator: 7n }, usd: { numerator: 3n, denominator: 20n } }

const books = Layer.mergeAll(
  Layer.succeed(TokenBook, { read: () => null, named: () => [], commitment: "confirmed", warm: () => Effect.void }),
  Layer.succeed(PoolBook, {
    between: () => null,
    poolsOf: (mint) => [pool(mint)],
    isLoaded: () => true,
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
  }),
  EvmCandles.layerNone
)

const reads = Layer.mergeAll(MarketReader.layer, TopTraders.layer).pipe(
  Layer.provide(books),
  Layer.provideMerge(Market.layerManual(limits))
)

const next = openMarket({ seed: 7, tokens: TOKENS, wallets: 50_000, habits: 10, skew: 3, pace: HISTORY_PACE })

const blockOf = (timeMs: number, trades: ReadonlyArray<TapeTrade>) => ({
  slot: trades[0]?.slot ?? 0,
  timeMs,
  trades,
  transactions: [],
  launches: [],
  afterGap: false
})

/** Every trade of this many goes to the popular token instead, from a wallet of its own. */
const POPULAR_SHARE = 8
const turn = { wallet: 0 }

const popular = (trade: TapeTrade): TapeTrade => ({
  ...trade,
  mint: POPULAR,
  wallet: addressOf(2, turn.wallet++ % WALLETS)
})

const someTrades = (many: number, timeMs: number | null): ReadonlyArray<TapeTrade> =>
  next(many).map((trade, at) => {
    const dated = timeMs === null ? trade : { ...trade, timeMs }
    return at % POPULAR_SHARE === 0 ? popular(dated) : dated
  })

const percentiles = (samples: ReadonlyArray<number>) => {
  const at = (p: number) => Number((percentile(samples, p) ?? 0).toFixed(2))
  return { reads: samples.length, p50: at(0.5), p99: at(0.99), most: at(1) }
}

const json = (value: unknown): number => JSON.stringify(value).length

const bench = Effect.gen(function* () {
  const tape = yield* Market
  const { apply } = yield* Tape
  const market = yield* MarketReader
  const traders = yield* TopTraders

  yield* apply(blockOf(OPENING_MS, []))
  for (let done = 0; done < HISTORY; done += 2000) {
    const trades = someTrades(2000, null)
    yield* apply(blockOf(trades.at(-1)?.timeMs ?? OPENING_MS, trades))
    yield* Effect.promise(() => nextTurn())
  }
  const liveMs = tape.state.now * 1000

  const chart = { resolution: "1s", denom: "usd", mode: "price", from: null, to: null, limit: 300 } as const
  const zero = { numerator: 0n, denominator: 1n }
  const ranking = {
    window: "1h",
    rank: "gainers",
    minLiquidityUsd: { numerator: 1000n, denominator: 1n },
    minVolumeUsd: zero
  } as const
  const questions = {
    chart: Effect.map(market.chart(POPULAR, chart), json),
    lighthouse: Effect.map(market.lighthouse, json),
    movement: Effect.map(market.movement(ranking, { limit: 20, pin: null }), json),
    topTraders: Effect.map(traders.rank({ mint: POPULAR, window: "24h", limit: 100, pin: null }), json)
  }

  const delay = monitorEventLoopDelay({ resolution: 1 })
  const spent: Record<keyof typeof questions, Array<number>> = {
    chart: [],
    lighthouse: [],
    movement: [],
    topTraders: []
  }
  const startedAt = performance.now()
  const state = { sent: 0, measuring: false, warmUntil: startedAt + 2000 }

  const ingest = Effect.gen(function* () {
    while (performance.now() - startedAt < SECONDS * 1000) {
      const due = Math.floor(((performance.now() - startedAt) * PER_SECOND) / 1000) - state.sent
      const trades = someTrades(due, liveMs + Math.floor(performance.now() - startedAt))
      state.sent += due
      yield* apply(blockOf(liveMs + Math.floor(performance.now() - startedAt), trades))
      yield* Effect.sleep(BLOCK_MS)
    }
  })

  const ask = Effect.gen(function* () {
    while (performance.now() - startedAt < SECONDS * 1000) {
      for (const name of ["chart", "lighthouse", "movement", "topTraders"] as const) {
        const askedAt = performance.now()
        yield* questions[name]
        if (state.measuring) {
          spent[name].push(performance.now() - askedAt)
        }
        yield* Effect.sleep(PAUSE_MS)
      }
      if (!state.measuring && performance.now() > state.warmUntil) {
        state.measuring = true
        delay.enable()
      }
    }
  })

  yield* Effect.all([ingest, ask], { concurrency: 2 })
  delay.disable()
  report("reads", {
    tokens: tape.state.tokens,
    walletsOfToken: WALLETS,
    tradesPerSecond: Math.round(state.sent / SECONDS),
    chart: percentiles(spent.chart),
    lighthouse: percentiles(spent.lighthouse),
    movement: percentiles(spent.movement),
    topTraders: percentiles(spent.topTraders),
    // The timer itself is a millisecond late at best.
    longestStallMs: Number((delay.max / 1e6 - 1).toFixed(1))
  })
})

await Effect.runPromise(bench.pipe(Effect.provide(reads)))
