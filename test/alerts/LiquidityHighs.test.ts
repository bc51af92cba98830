import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { LiquidityHighs } from "../../src/alerts/LiquidityHighs.ts"
import { SOL } from "../../src/domain/Address.ts"
import { mintOf, walletOf } from "../market/tape/tape.ts"
import { constantProduct } from "../quotes/toyChain.ts"
import * as MemoryAlerts from "../support/memoryAlerts.ts"
import type { ToyPools } from "../tokens/toyPools.ts"
import { alerting, atMicros, fired, makeMints, priced, set, settle } from "./world.ts"

const MINT = mintOf(1)
const SECOND = 1000
const PAUSE_MS = 10 * SECOND

/** Values of this many millionths every two seconds. */
const noteEach = (highs: LiquidityHighs, micro: bigint, fromMs: number, toMs: number) => {
  for (let ms = fromMs; ms <= toMs; ms += 2 * SECOND) {
    highs.note(MINT, micro, ms)
  }
}

describe("the highest liquidity of a window", () => {
  it("is whole once values were seen for as long as the window", () => {
    const highs = new LiquidityHighs(PAUSE_MS)
    noteEach(highs, 100n, 0, 298 * SECOND)
    assert.deepStrictEqual(highs.of(MINT, 300, 298 * SECOND), { micro: 100n, isWhole: false })
    noteEach(highs, 50n, 300 * SECOND, 300 * SECOND)
    assert.deepStrictEqual(highs.of(MINT, 300, 300 * SECOND), { micro: 100n, isWhole: true })
  })

  it("drops out of the window with time, and is forgotten with the token", () => {
    const highs = new LiquidityHighs(100 * SECOND)
    assert.isNull(highs.of(MINT, 300, 0))
    highs.note(MINT, 9n, 0)
    highs.note(MINT, 5n, 100_000)
    highs.note(MINT, 7n, 200_000)
    assert.deepStrictEqual(highs.of(MINT, 300, 200_000), { micro: 9n, isWhole: false })
    assert.deepStrictEqual(highs.of(MINT, 300, 300_000), { micro: 7n, isWhole: true })
    assert.deepStrictEqual(highs.of(MINT, 3600, 300_000), { micro: 9n, isWhole: false })
    highs.keep(new Set())
    assert.isNull(highs.of(MINT, 300, 300_000))
  })

  it("is not whole after a pause until a window has passed since, and keeps earlier values", () => {
    const highs = new LiquidityHighs(PAUSE_MS)
    noteEach(highs, 100n, 0, 400 * SECOND)
    highs.note(MINT, 50n, 3000 * SECOND)
    assert.deepStrictEqual(highs.of(MINT, 300, 3000 * SECOND), { micro: 50n, isWhole: false })
    assert.deepStrictEqual(highs.of(MINT, 3600, 3000 * SECOND), { micro: 100n, isWhole: false })
    noteEach(highs, 50n, 3002 * SECOND, 3300 * SECOND)
    assert.deepStrictEqual(highs.of(MINT, 300, 3300 * SECOND), { micro: 50n, isWhole: true })
    assert.isFalse(highs.of(MINT, 600, 3300 * SECOND)?.isWhole)
  })

  it("bridges a shorter pause, and is not whole while a pause lasts", () => {
    const highs = new LiquidityHighs(PAUSE_MS)
    noteEach(highs, 100n, 0, 300 * SECOND)
    assert.isTrue(highs.of(MINT, 300, 310 * SECOND)?.isWhole)
    assert.isFalse(highs.of(MINT, 300, 310 * SECOND + 1)?.isWhole)
    highs.note(MINT, 90n, 310 * SECOND)
    assert.deepStrictEqual(highs.of(MINT, 300, 310 * SECOND), { micro: 100n, isWhole: true })
  })
})

const condition = (operator: "crosses_above" | "crosses_below", threshold: string) => ({
  condition: {
    metric: "liquidity_drop_pct" as const,
    operator,
    threshold,
    windowSeconds: 300 as const,
    source: "swap" as const
  }
})

/** The time of the next evaluation of every alert. */
const tick = Effect.andThen(TestClock.adjust("2 seconds"), settle)

describe("alerts on drops of liquidity", () => {
  it.effect("neither arm again nor fire after a pause of the liquidity", () => {
    const mints = makeMints()
    mints.medians.set(SOL, atMicros(1n))
    mints.medians.set(MINT, atMicros(1n))
    const pools: ToyPools = { pools: [], loaded: new Set([MINT]), warmed: new Set() }
    const reserve = (units: bigint) => {
      pools.pools = [{ ...constantProduct(walletOf(90), MINT, SOL, [1n, 1n]), reserves: [units, units] as const }]
      return tick
    }
    return Effect.gen(function* () {
      yield* priced(0, [1])
      const drop = condition("crosses_above", "30")
      yield* set("al_drop", { ...drop, recurrence: "repeat", cooldownSeconds: 60 })
      yield* reserve(5_000_000n)
      yield* TestClock.adjust("6 minutes")
      yield* reserve(3_000_000n)
      assert.deepStrictEqual(yield* fired, ["al_drop 40"])
      yield* set("al_back", condition("crosses_below", "10"))
      // The liquidity is unknown for longer than the window.
      mints.medians.delete(MINT)
      yield* TestClock.adjust("6 minutes")
      mints.medians.set(MINT, atMicros(1n))
      yield* reserve(3_000_000n)
      yield* reserve(1_000_000n)
      assert.deepStrictEqual(yield* fired, ["al_drop 40"])
      yield* TestClock.adjust("6 minutes")
      yield* tick
      assert.deepStrictEqual(yield* fired, ["al_drop 40", "al_back 0"])
    }).pipe(Effect.provide(alerting(MemoryAlerts.layer, { mints, pools })))
  })
})
