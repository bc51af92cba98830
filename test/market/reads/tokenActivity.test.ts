import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { type Mint, USDC } from "../../../src/domain/Address.ts"
import * as tokenActivity from "../../../src/market/reads/tokenActivity.ts"
import type { MarketLimits } from "../../../src/market/memory/MarketState.ts"
import { Market } from "../../../src/market/tape/Market.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import type { PricedBatch } from "../../../src/market/model/TradeBatch.ts"
import { ActivityReader } from "../../../src/tokens/ActivityReader.ts"
import { mintOf, MONDAY, trade } from "../tape/tape.ts"

const DAY = 86_400

const batch = (second: number, given: Partial<PricedBatch> = {}): PricedBatch => ({
  slot: second + 1,
  timeMs: (MONDAY + second) * 1000,
  trades: [],
  transactions: [],
  launches: [],
  afterGap: false,
  ...given
})

/** Applies blocks as they come, and reads after the last block. */
const readAfter = <A>(
  batches: ReadonlyArray<PricedBatch>,
  read: (reader: ActivityReader["Service"], nowMs: number) => A,
  limits?: MarketLimits
) =>
  Effect.gen(function* () {
    const tape = yield* Tape
    for (const one of batches) {
      yield* TestClock.setTime(one.timeMs)
      yield* tape.apply(one)
    }
    const reader = yield* ActivityReader
    return read(reader, batches.at(-1)?.timeMs ?? MONDAY * 1000)
  }).pipe(Effect.provide(tokenActivity.layer.pipe(Layer.provideMerge(Market.layerManual(limits)))))

/** A token after these blocks. */
const after = (batches: ReadonlyArray<PricedBatch>, mint: Mint = mintOf(1)) =>
  readAfter(batches, (reader, nowMs) => reader.activityOf(mint, nowMs))

const tradeAt = (second: number, priced = true) =>
  trade({
    slot: second + 1,
    timeMs: (MONDAY + second) * 1000,
    ...(priced ? {} : { priceUsd: null, volumeUsdNanos: null })
  })

it.effect("knows nothing before the first block", () =>
  Effect.gen(function* () {
    const { createdAtMs, firstSeenAtMs, holders, volume24hUsd } = yield* after([])
    assert.deepStrictEqual([createdAtMs, firstSeenAtMs, holders.value, volume24hUsd.value], [null, null, null, null])
    assert.strictEqual(holders.coverage.reason, "not_captured")
    assert.strictEqual(volume24hUsd.coverage.reason, "not_captured")
  })
)

it.effect("has no volume, instead of zero, for USDC", () =>
  Effect.gen(function* () {
    const { volume24hUsd } = yield* after([batch(0), batch(DAY, { trades: [tradeAt(DAY)] })], USDC)
    assert.deepStrictEqual([volume24hUsd.value, volume24hUsd.coverage.reason], [null, "not_captured"])
  })
)

it.effect("sums the swaps of a day once a day was seen, and not before", () =>
  Effect.gen(function* () {
    const blocks = [batch(0), batch(605, { trades: [tradeAt(605)] }), batch(1260, { trades: [tradeAt(1260)] })]
    assert.strictEqual((yield* after(blocks)).volume24hUsd.coverage.reason, "not_captured")
    const { firstSeenAtMs, volume24hUsd } = yield* after([...blocks, batch(DAY)])
    assert.strictEqual(volume24hUsd.value, "2")
    assert.deepStrictEqual(volume24hUsd.coverage, { complete: true, reason: null })
    assert.strictEqual(firstSeenAtMs, (MONDAY + 605) * 1000)
    assert.strictEqual((yield* after([...blocks, batch(DAY + 600)])).volume24hUsd.value, "1")
  })
)

it.effect("reports swaps without a price", () =>
  Effect.gen(function* () {
    const { volume24hUsd } = yield* after([
      batch(0),
      batch(605, { trades: [tradeAt(605), { ...tradeAt(605, false), index: 1 }] }),
      batch(DAY)
    ])
    assert.strictEqual(volume24hUsd.value, "1")
    assert.strictEqual(volume24hUsd.coverage.reason, "mark_unknown")
  })
)

it.effect("dates a launch that was seen, and covers its whole life from then on", () =>
  Effect.gen(function* () {
    const launch = { event: "created" as const, launchpad: "pump.fun", mint: mintOf(1), pool: null }
    const { createdAtMs, firstSeenAtMs, volume24hUsd } = yield* after([
      batch(0),
      batch(100, { launches: [launch] }),
      batch(200, { trades: [tradeAt(200)] })
    ])
    assert.strictEqual(createdAtMs, (MONDAY + 100) * 1000)
    assert.strictEqual(firstSeenAtMs, createdAtMs)
    assert.strictEqual(volume24hUsd.value, "1")
  })
)

const POOLS = [mintOf(101), mintOf(102), mintOf(103)] as const

const inPool = (pool: Mint, second: number, index = 0) => ({ ...tradeAt(second), index, pool })

const volumeOf = (pool: Mint) => (reader: ActivityReader["Service"], nowMs: number) =>
  reader.poolVolume24hUsd(mintOf(1), pool, nowMs)

it.effect("sums the swaps of each pool, late swaps in their own time", () =>
  Effect.gen(function* () {
    const [one, other, idle] = POOLS
    const blocks = [
      batch(0),
      batch(605, { trades: [inPool(one, 605), inPool(other, 605, 1)] }),
      batch(1900, { trades: [inPool(one, 1900)] }),
      batch(1901, { trades: [{ ...inPool(one, 610), slot: 1902 }] }),
      batch(DAY)
    ]
    const volume = yield* readAfter(blocks, volumeOf(one))
    assert.deepStrictEqual([volume.value, volume.status], ["3", "known"])
    assert.strictEqual((yield* readAfter(blocks, volumeOf(other))).value, "1")
    // Known to be zero, because the whole day was seen.
    assert.strictEqual((yield* readAfter(blocks, volumeOf(idle))).value, "0")
    // The bucket of ten minutes with both early swaps has left.
    assert.strictEqual((yield* readAfter([...blocks, batch(DAY + 600)], volumeOf(one))).value, "1")
  })
)

it.effect("gives a reason when the volume of a pool is unknown", () =>
  Effect.gen(function* () {
    const [one] = POOLS
    assert.strictEqual((yield* readAfter([], volumeOf(one))).coverage.reason, "not_captured")
    const unpriced = { ...tradeAt(605, false), pool: one }
    const volume = yield* readAfter([batch(0), batch(605, { trades: [unpriced] }), batch(DAY)], volumeOf(one))
    assert.deepStrictEqual([volume.value, volume.coverage.reason], [null, "mark_unknown"])
  })
)

it.effect("forgets the pools that traded longest ago, and then reports no volume as complete", () =>
  Effect.gen(function* () {
    const [one, other, third] = POOLS
    const limits = { tokens: 1, bars: 1000, trades: 1000, traders: 1000 }
    const blocks = [
      batch(0),
      batch(605, { trades: [inPool(one, 605)] }),
      batch(1300, { trades: [inPool(other, 1300)] }),
      batch(1301, { trades: [inPool(third, 1301)] })
    ]
    const volume = yield* readAfter([...blocks, batch(DAY)], volumeOf(other), limits)
    assert.deepStrictEqual([volume.value, volume.coverage.reason], [null, "limit_clipped"])
    assert.strictEqual((yield* readAfter([...blocks, batch(DAY + 700)], volumeOf(other), limits)).value, "1")
  })
)

it.effect("dates a curve that was created and the pool that it migrated to", () =>
  Effect.gen(function* () {
    const [curve, pool, another] = POOLS
    const of = { launchpad: "pump.fun", mint: mintOf(1) }
    const blocks = [
      batch(0),
      batch(100, { launches: [{ ...of, event: "created", pool: curve }] }),
      batch(200, { launches: [{ ...of, event: "migrated", pool }] }),
      batch(300, { trades: [inPool(pool, 300)] })
    ]
    const times = yield* readAfter(blocks, (reader) =>
      [curve, pool, another].map((each) => reader.poolCreatedAtMs(mintOf(1), each))
    )
    assert.deepStrictEqual(times, [(MONDAY + 100) * 1000, (MONDAY + 200) * 1000, null])
    // A pool that was created within the record has its whole volume before a day was seen.
    assert.strictEqual((yield* readAfter(blocks, volumeOf(pool))).value, "1")
  })
)
