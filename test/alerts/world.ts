/** Alerts over a tape that a test writes. */
import { Clock, ConfigProvider, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { AlertStore } from "../../src/alerts/AlertStore.ts"
import { Evaluator } from "../../src/alerts/Evaluator.ts"
import type { TapeTrade } from "../../src/market/model/TapeTrade.ts"
import { Market } from "../../src/market/tape/Market.ts"
import { Tape } from "../../src/market/tape/Tape.ts"
import { PriceBook, type UnitPrice } from "../../src/tokens/PriceBook.ts"
import { TokenBook } from "../../src/tokens/TokenBook.ts"
import type { TokenState } from "../../src/tokens/TokenCache.ts"
import type { NewAlert } from "../../src/api/schemas/Alert.ts"
import { MONDAY, trade } from "../market/tape/tape.ts"
import { block } from "../support/reads.ts"
import { type ToyPools, toyPoolBook } from "../tokens/toyPools.ts"
import { alertOf } from "./alerts.ts"

/** Mints of a test, and the mints that were requested. */
export interface Mints {
  readonly known: Map<string, TokenState>
  readonly warmed: Set<string>
  /** Median prices per smallest unit, by the pools of slot 5,000 as of now. */
  readonly medians: Map<string, UnitPrice>
  /** Mints whose pools were requested. */
  readonly pooled: Set<string>
}

export const makeMints = (): Mints => ({ known: new Map(), warmed: new Set(), medians: new Map(), pooled: new Set() })

/** This many millionths of a dollar for one smallest unit. */
export const atMicros = (numerator: bigint, denominator = 1n): UnitPrice => ({
  sol: null,
  usd: { numerator, denominator }
})

const priceBook = ({ medians, pooled }: Mints) =>
  Layer.succeed(PriceBook, {
    at: (nowMs) => ({
      of: (mint) => medians.get(mint) ?? null,
      lifetime: { observedAtMs: nowMs, expiresAtMs: nowMs + 10_000 },
      isStale: false,
      silentMs: 0,
      clock: { slot: 5000, epoch: 0, unixTimestamp: 0 }
    }),
    warm: (mint) => Effect.sync(() => void pooled.add(mint))
  })

const tokenBook = ({ known, warmed }: Mints) =>
  Layer.succeed(TokenBook, {
    read: (mint) => known.get(mint) ?? null,
    named: () => [],
    commitment: "confirmed",
    warm: (mint) => Effect.sync(() => void warmed.add(mint))
  })

const begin = Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
  nowMs < MONDAY * 1000 ? TestClock.setTime(MONDAY * 1000) : Effect.void
)

/** The evaluator over a tape and a store. Both are provided too. */
export const alerting = <E>(
  store: Layer.Layer<AlertStore, E>,
  {
    mints = makeMints(),
    settings = {},
    tape = Market.layerManual(),
    pools = { pools: [], loaded: new Set(), warmed: new Set() },
    holders = Layer.empty,
    evaluator = Evaluator.layer
  }: {
    readonly evaluator?: typeof Evaluator.layer
    readonly mints?: Mints
    readonly pools?: ToyPools
    readonly holders?: Layer.Layer<never>
    readonly settings?: Record<string, string>
    readonly tape?: Layer.Layer<Market | Tape>
  } = {}
) =>
  evaluator.pipe(
    Layer.provideMerge(Layer.merge(store, tape)),
    // From time zero until now, a tick every two seconds would run very often.
    Layer.provide(Layer.effectDiscard(begin)),
    Layer.provide([
      tokenBook(mints),
      priceBook(mints),
      toyPoolBook(pools),
      holders,
      ConfigProvider.layer(ConfigProvider.fromUnknown(settings))
    ]),
    Layer.orDie
  )

/** Lets published batches be processed. */
export const settle = Effect.forEach(Array.from({ length: 60 }), () => Effect.yieldNow, { discard: true })

/**
 * One block, this many seconds after `MONDAY`, with swaps at these prices in dollars. The clock is set to that time
 * first.
 */
export const priced = Effect.fnUntraced(function* (
  second: number,
  prices: ReadonlyArray<number>,
  given: Partial<TapeTrade> = {}
) {
  const tape = yield* Tape
  const timeMs = (MONDAY + second) * 1000
  yield* TestClock.setTime(timeMs)
  const trades = prices.map((priceUsd, index) => trade({ slot: 1000 + second, index, timeMs, priceUsd, ...given }))
  yield* tape.apply(block(second, { trades }))
  yield* settle
})

/** The newest events of every alert. */
export const EVERY = { alertId: null, sinceMs: null, limit: 100, after: null }

/** Creates an alert as the service does: stores it, then watches it. */
export const set = Effect.fnUntraced(function* (id: string, other: Partial<NewAlert> = {}) {
  const alert = yield* (yield* AlertStore).create(alertOf(id, other))
  yield* (yield* Evaluator).take(alert)
})

/** Events so far, oldest first. */
export const fired = Effect.gen(function* () {
  const { rows } = yield* (yield* AlertStore).events("acct", EVERY)
  return rows.toReversed().map(({ alertId, value }) => `${alertId} ${value}`)
})
