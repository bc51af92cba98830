/**
 * Cost of 10,000 alerts on five busy tokens: the time of a block of 400 swaps from the tape through the evaluator, compared
 * with the same blocks without alerts, and the time until 2,000 alerts fired by one swap are stored. The first argument is
 * the number of blocks (300); `--json` prints one line.
 */
import { Clock, Effect, Layer } from "effect"
import { setImmediate as nextTurn } from "node:timers/promises"
import { AlertStore } from "../../src/alerts/AlertStore.ts"
import { Evaluator } from "../../src/alerts/Evaluator.ts"
import { type Address, addressFromBytes } from "../../src/domain/Address.ts"
import type { NewAlert } from "../../src/api/schemas/Alert.ts"
import type { TapeTrade } from "../../src/market/model/TapeTrade.ts"
import * as MemoryAlerts from "../../test/support/memoryAlerts.ts"
import { Market } from "../../src/market/tape/Market.ts"
import { Tape } from "../../src/market/tape/Tape.ts"
import { PoolBook } from "../../src/quotes/pools/PoolBook.ts"
import { PriceBook } from "../../src/tokens/PriceBook.ts"
import { TokenBook } from "../../src/tokens/TokenBook.ts"
import { percentile, report } from "./report.ts"
import { countArgument } from "../options.ts"

const BLOCKS = countArgument("The number of blocks", 300)
const ALERTS = 10_000
const TOKENS = 5
const SWAPS = 400
const FIRING = 2000

const addressOf = (n: number): Address => addressFromBytes(new Uint8Array(32).fill(7).fill(n, 0, 4))

const books = Layer.succeed(TokenBook, {
  read: () => null,
  named: () => [],
  commitment: "confirmed",
  warm: () => Effect.void
})

const prices = Layer.succeed(PriceBook, {
  at: () => ({
    of: () => null,
    lifetime: null,
    isStale: true,
    silentMs: 0,
    clock: { slot: 0, epoch: 0, unixTimestamp: 0 }
  }),
  warm: () => Effect.void
})

const pools = Layer.succeed(PoolBook, {
  between: () => null,
  poolsOf: () => [],
  isLoaded: () => true,
  leftOut: () => 0,
  lacking: () => null,
  graduationOf: () => null,
  learn: () => undefined,
  held: () => null,
  executedOf: () => [],
  poolAt: () => null,
  graph: { partnersOf: () => [], poolsBetween: () => [] },
  warm: () => Effect.succeed({ _tag: "Loaded" })
})

const world = () =>
  Evaluator.layer.pipe(
    Layer.provideMerge(Layer.fresh(Layer.merge(MemoryAlerts.layer, Market.layerManual()))),
    Layer.provide([books, pools, prices]),
    Layer.fresh
  )

/** Levels between half and twice the price of one dollar. The swaps below reach none of them. */
const alertOf = (n: number, createdAtMs: number): NewAlert => ({
  id: `al_${n}`,
  accountId: `account ${Math.floor(n / 100)}`,
  mint: addressOf(n % TOKENS),
  wallet: null,
  side: null,
  condition: {
    metric: n % 3 === 0 ? "price_sol" : "price_usd",
    operator: n % 2 === 0 ? "crosses_above" : "crosses_below",
    threshold: (n % 2 === 0 ? 1.1 + n / ALERTS : 0.9 - n / ALERTS / 2).toFixed(6).replace(/0+$/u, ""),
    windowSeconds: null,
    source: "swap"
  },
  recurrence: "repeat",
  cooldownSeconds: 300,
  expiresAtMs: null,
  note: null,
  armed: true,
  cleared: true,
  mark: 0,
  createdAtMs
})

const swapOf = (slot: number, index: number, timeMs: number, priceUsd: number): TapeTrade => ({
  role: "both",
  signature: `${slot} ${index}`,
  slot,
  index,
  timeMs,
  wallet: addressOf(100 + (index % 50)),
  mint: addressOf(index % TOKENS),
  side: "buy",
  amount: 1_000_000n,
  decimals: 6,
  lamports: BigInt(Math.round(priceUsd * 1e9)),
  priceUsd,
  volumeUsdNanos: 1_000_000_000n,
  pool: null,
  dex: null,
  launchpad: null,
  solUsdNanos: null
})

const blockOf = (slot: number, timeMs: number, prices: ReadonlyArray<number>) => ({
  slot,
  timeMs,
  trades: prices.map((price, index) => swapOf(slot, index, timeMs, price)),
  transactions: [],
  launches: [],
  afterGap: false
})

/** Two turns of the event loop, after which every follower has acted. */
const quiet = Effect.promise(async () => {
  await nextTurn()
  await nextTurn()
})

/** Milliseconds per block with this number of alerts. */
const run = (alerts: number) =>
  Effect.gen(function* () {
    const [store, evaluator, tape] = [yield* AlertStore, yield* Evaluator, yield* Tape]
    const startMs = yield* Clock.currentTimeMillis
    for (let n = 0; n < alerts; n++) {
      yield* evaluator.take(yield* store.create(alertOf(n, startMs)))
    }
    const took: Array<number> = []
    for (let slot = 1; slot <= BLOCKS; slot++) {
      const timeMs = yield* Clock.currentTimeMillis
      const block = blockOf(
        slot,
        timeMs,
        Array.from({ length: SWAPS }, (_, i) => 1 + ((slot * 31 + i * 7) % 100) / 2000)
      )
      const began = performance.now()
      yield* tape.apply(block)
      yield* quiet
      took.push(performance.now() - began)
    }
    return took
  }).pipe(Effect.provide(world()))

/** Milliseconds until all alerts fired by one swap are stored. */
const burst = Effect.gen(function* () {
  const [store, evaluator, tape] = [yield* AlertStore, yield* Evaluator, yield* Tape]
  const timeMs = yield* Clock.currentTimeMillis
  for (let n = 0; n < FIRING; n++) {
    const alert = alertOf(n, timeMs)
    const condition = { ...alert.condition, metric: "price_usd", operator: "crosses_above", threshold: "2" } as const
    yield* evaluator.take(yield* store.create({ ...alert, mint: addressOf(0), condition }))
  }
  const began = performance.now()
  yield* tape.apply(blockOf(1, timeMs, [3]))
  const every = { alertId: `al_${FIRING - 1}`, sinceMs: null, limit: 1, after: null }
  let isKept = false
  while (!isKept) {
    yield* quiet
    const { rows } = yield* store.events(`account ${Math.floor((FIRING - 1) / 100)}`, every)
    isKept = rows.length === 1
  }
  return performance.now() - began
}).pipe(Effect.provide(world()))

const rounded = (value: number | null) => (value === null ? null : Math.round(value * 100) / 100)

const main = Effect.gen(function* () {
  yield* run(0)
  const [without, withAlerts] = [yield* run(0), yield* run(ALERTS)]
  const burstMs = yield* burst
  report("alerts", {
    blocks: BLOCKS,
    swapsPerBlock: SWAPS,
    alerts: ALERTS,
    blockMsWithout: { p50: rounded(percentile(without, 0.5)), p99: rounded(percentile(without, 0.99)) },
    blockMsWith: { p50: rounded(percentile(withAlerts, 0.5)), p99: rounded(percentile(withAlerts, 0.99)) },
    firingTogether: FIRING,
    firedAllMs: rounded(burstMs)
  })
})

Effect.runFork(Effect.orDie(main))
