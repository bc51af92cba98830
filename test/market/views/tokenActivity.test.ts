import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { type Mint, USDC } from "../../../src/domain/Address.ts"
import * as tokenActivity from "../../../src/market/views/tokenActivity.ts"
import { TradeTape } from "../../../src/market/tape/TradeTape.ts"
import type { PricedBatch } from "../../../src/market/tape/TradeBatch.ts"
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

/** Applies blocks as they come, and reads a token after the last of them. */
const after = (batches: ReadonlyArray<PricedBatch>, mint: Mint = mintOf(1)) =>
  Effect.gen(function* () {
    const tape = yield* TradeTape
    for (const one of batches) {
      yield* TestClock.setTime(one.timeMs)
      yield* tape.apply(one)
    }
    const reader = yield* ActivityReader
    return reader.activityOf(mint, batches.at(-1)?.timeMs ?? MONDAY * 1000)
  }).pipe(Effect.provide(tokenActivity.layer.pipe(Layer.provideMerge(TradeTape.layerManual()))))

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

it.effect("counts no volume of the dollars that tokens are paid with, rather than none", () =>
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
    assert.strictEqual(volume24hUsd.status, "partial")
    assert.strictEqual(volume24hUsd.coverage.reason, "observed_swaps_only")
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

it.effect("dates a launch that was seen, whose whole life was covered from then on", () =>
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
