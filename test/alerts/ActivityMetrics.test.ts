import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Evaluator } from "../../src/alerts/Evaluator.ts"
import type { AlertCondition } from "../../src/api/schemas/Alert.ts"
import { type Coverage, COMPLETE, incomplete, unavailable } from "../../src/domain/Scalar.ts"
import { Tape } from "../../src/market/tape/Tape.ts"
import { HolderReader, unknownFigures } from "../../src/tokens/HolderReader.ts"
import { mintOf, MONDAY, walletOf } from "../market/tape/tape.ts"
import { constantProduct } from "../quotes/toyChain.ts"
import { SOL } from "../../src/domain/Address.ts"
import { block } from "../support/reads.ts"
import * as SourceMonitor from "../../src/operations/SourceMonitor.ts"
import { readMintAccount } from "../../src/tokens/mintAccount.ts"
import { classicMint, type MintPlan } from "../tokens/mints.ts"
import type { ToyPools } from "../tokens/toyPools.ts"
import * as MemoryAlerts from "../support/memoryAlerts.ts"
import { alerting, atMicros, fired, makeMints, priced, set, settle } from "./world.ts"

const MINT = mintOf(1)

const condition = (
  metric: AlertCondition["metric"],
  operator: AlertCondition["operator"],
  threshold: string,
  windowSeconds: AlertCondition["windowSeconds"] = null
) => ({ condition: { metric, operator, threshold, windowSeconds, source: "swap" as const } })

/** The time of the next evaluation of every alert. */
const tick = Effect.andThen(TestClock.adjust("2 seconds"), settle)

const now = (metric: AlertCondition["metric"], windowSeconds: AlertCondition["windowSeconds"] = null) =>
  Effect.gen(function* () {
    const { now } = yield* Evaluator
    return now(MINT, { metric, windowSeconds, source: "swap" }, (MONDAY + 1000) * 1000).state
  })

describe("alerts on activity", () => {
  it.effect("fire once when the volume of a window crosses a level, and not with an earlier swap", () =>
    Effect.gen(function* () {
      yield* priced(0, [1])
      yield* set("al_volume", condition("volume_usd", "crosses_above", "50", 300))
      // The window was seen whole from here on.
      yield* priced(600, [1], { volumeUsdNanos: 49_000_000_000n })
      yield* tick
      const before = yield* fired
      yield* priced(605, [1], { volumeUsdNanos: 30_000_000_000n })
      yield* tick
      yield* tick
      assert.lengthOf(before, 0)
      assert.deepStrictEqual(yield* fired, ["al_volume 79"])
    }).pipe(Effect.provide(alerting(MemoryAlerts.layer)))
  )

  it.effect("have no volume while a trade of the window has no value", () =>
    Effect.gen(function* () {
      yield* set("al_volume", condition("volume_usd", "crosses_above", "1", 300))
      yield* priced(0, [1], { volumeUsdNanos: null, priceUsd: null })
      yield* tick
      assert.strictEqual(yield* now("volume_usd", 300), "unavailable")
      assert.lengthOf(yield* fired, 0)
    }).pipe(Effect.provide(alerting(MemoryAlerts.layer)))
  )

  it.effect("fire when liquidity falls, and have none while a pool has no value", () => {
    const mints = makeMints()
    mints.medians.set(SOL, atMicros(1n))
    mints.medians.set(MINT, atMicros(1n))
    const pool = (reserve: bigint) => ({
      ...constantProduct(walletOf(90), MINT, SOL, [1n, 1n]),
      reserves: [reserve, reserve] as const
    })
    const pools: ToyPools = { pools: [pool(5_000_000n)], loaded: new Set(), warmed: new Set() }
    return Effect.gen(function* () {
      yield* priced(0, [1])
      yield* set("al_thin", condition("liquidity_usd", "crosses_below", "8"))
      assert.isTrue(pools.warmed.has(MINT))
      assert.strictEqual(yield* now("liquidity_usd"), "unavailable")
      pools.loaded = new Set([MINT])
      yield* tick
      assert.lengthOf(yield* fired, 0)
      mints.medians.delete(MINT)
      pools.pools = [pool(1_000_000n)]
      yield* tick
      assert.lengthOf(yield* fired, 0)
      mints.medians.set(MINT, atMicros(1n))
      yield* tick
      yield* tick
      assert.deepStrictEqual(yield* fired, ["al_thin 2"])
    }).pipe(Effect.provide(alerting(MemoryAlerts.layer, { mints, pools })))
  })

  it.effect("fire when liquidity drops by a share within the window, and again only after another drop", () => {
    const mints = makeMints()
    mints.medians.set(SOL, atMicros(1n))
    mints.medians.set(MINT, atMicros(1n))
    const pool = (reserve: bigint) => ({
      ...constantProduct(walletOf(90), MINT, SOL, [1n, 1n]),
      reserves: [reserve, reserve] as const
    })
    const pools: ToyPools = { pools: [pool(5_000_000n)], loaded: new Set([MINT]), warmed: new Set() }
    const reserve = (units: bigint) => {
      pools.pools = [pool(units)]
      return tick
    }
    return Effect.gen(function* () {
      yield* priced(0, [1])
      assert.strictEqual(yield* now("liquidity_drop_pct", 600), "unavailable")
      const drop = condition("liquidity_drop_pct", "crosses_above", "30", 600)
      yield* set("al_drop", { ...drop, recurrence: "repeat", cooldownSeconds: 60 })
      yield* tick
      assert.strictEqual(yield* now("liquidity_drop_pct", 3600), "ok")
      yield* reserve(3_600_000n)
      // A pool without a value makes the liquidity unknown.
      mints.medians.delete(MINT)
      yield* reserve(1_000_000n)
      assert.lengthOf(yield* fired, 0)
      mints.medians.set(MINT, atMicros(1n))
      yield* reserve(3_400_000n)
      yield* reserve(3_000_000n)
      assert.deepStrictEqual(yield* fired, ["al_drop 32"])
      // The highest value leaves the window, and the next drop counts from the remaining values.
      yield* TestClock.adjust("10 minutes")
      yield* tick
      yield* tick
      yield* reserve(2_400_000n)
      assert.lengthOf(yield* fired, 1)
      yield* reserve(1_500_000n)
      assert.deepStrictEqual(yield* fired, ["al_drop 32", "al_drop 50"])
    }).pipe(Effect.provide(alerting(MemoryAlerts.layer, { mints, pools })))
  })

  it.effect("have no liquidity for a token whose pools could not be searched", () => {
    const mints = makeMints()
    mints.medians.set(SOL, atMicros(1n))
    const pools: ToyPools = { pools: [], loaded: new Set([MINT]), warmed: new Set(), partial: new Set([MINT]) }
    return Effect.gen(function* () {
      yield* priced(0, [1])
      yield* set("al_thin", condition("liquidity_usd", "crosses_below", "8"))
      yield* tick
      assert.strictEqual(yield* now("liquidity_usd"), "unavailable")
      pools.partial = new Set()
      assert.strictEqual(yield* now("liquidity_usd"), "ok")
    }).pipe(Effect.provide(alerting(MemoryAlerts.layer, { mints, pools })))
  })

  it.effect("fire once a window when an authority is removed or set, and not for an older slot", () => {
    const mints = makeMints()
    let second = 0
    const see = (slot: number, plan: MintPlan, seconds = 20) => {
      second += seconds
      const facts = readMintAccount(classicMint(MINT, plan))
      const observation = { slot, observedAtMs: slot }
      mints.known.set(MINT, { _tag: "Token", facts: facts._tag === "Mint" ? facts : null, metadata: null, observation })
      return Effect.andThen(priced(second, [1]), tick)
    }
    return Effect.gen(function* () {
      yield* priced(0, [1])
      const changes = condition("authority_changes", "crosses_above", "1", 300)
      yield* set("al_changes", { ...changes, recurrence: "repeat", cooldownSeconds: 60 })
      yield* tick
      assert.isTrue(mints.warmed.has(MINT))
      yield* see(5, { mintAuthority: walletOf(1), freezeAuthority: walletOf(2) })
      yield* see(10, { mintAuthority: walletOf(1), freezeAuthority: walletOf(2) })
      assert.lengthOf(yield* fired, 0)
      yield* see(20, { mintAuthority: null, freezeAuthority: walletOf(2) })
      assert.deepStrictEqual(yield* fired, ["al_changes 1"])
      yield* see(19, { mintAuthority: walletOf(1), freezeAuthority: walletOf(2) })
      // The window passes.
      yield* see(200, { mintAuthority: null, freezeAuthority: walletOf(2) }, 400)
      yield* see(201, { mintAuthority: null, freezeAuthority: walletOf(2) })
      assert.lengthOf(yield* fired, 1)
      yield* see(210, { mintAuthority: walletOf(3), freezeAuthority: null })
      assert.deepStrictEqual(yield* fired, ["al_changes 1", "al_changes 2"])
    }).pipe(Effect.provide(alerting(MemoryAlerts.layer, { mints })))
  })

  it.effect("fire when holders concentrate, and are silent while holders or pools are incomplete", () => {
    const held = { part: 10n, lacking: null as "source_gap" | null, poolCoverage: COMPLETE as Coverage }
    const holders = Layer.succeed(HolderReader, {
      historyOf: () => Effect.die("not asked"),
      holdersOf: () => unknownFigures("not_captured"),
      countOf: () => unavailable("count", "not_captured"),
      suggest: () => null,
      knownOf: (_mint, nowMs) => ({
        total: 100n,
        holders: 20,
        amountOf: () => 0n,
        largest: () => held.part,
        poolCoverage: held.poolCoverage,
        life: { observedAtMs: nowMs, expiresAtMs: nowMs + 1000 },
        slot: 1,
        lacking: held.lacking
      })
    })
    return Effect.gen(function* () {
      yield* set("al_top", condition("top10_pct", "crosses_above", "30"))
      yield* tick
      Object.assign(held, { part: 90n, lacking: "source_gap" })
      yield* tick
      assert.strictEqual(yield* now("top10_pct"), "stale")
      Object.assign(held, { lacking: null, poolCoverage: incomplete("limit_clipped") })
      yield* tick
      assert.strictEqual(yield* now("top10_pct"), "unavailable")
      assert.lengthOf(yield* fired, 0)
      held.poolCoverage = COMPLETE
      yield* tick
      assert.deepStrictEqual(yield* fired, ["al_top 90"])
    }).pipe(Effect.provide(alerting(MemoryAlerts.layer, { holders })))
  })

  it.effect("fire at graduation", () =>
    Effect.gen(function* () {
      const { apply } = yield* Tape
      const launch = { mint: MINT, launchpad: "pump-fun", creator: walletOf(1), pool: walletOf(2) }
      yield* TestClock.setTime(MONDAY * 1000)
      yield* apply(block(0, { launches: [{ ...launch, event: "created" }] }))
      yield* set("al_out", condition("curve_progress_pct", "crosses_above", "100"))
      yield* tick
      assert.strictEqual(yield* now("curve_progress_pct"), "unavailable")
      yield* apply(block(3, { launches: [{ ...launch, event: "migrated" }] }))
      yield* tick
      yield* tick
      assert.deepStrictEqual(yield* fired, ["al_out 100"])
    }).pipe(Effect.provide(alerting(MemoryAlerts.layer)))
  )

  it.effect("load the pools of a token only for metrics that are read from them", () => {
    const pools: ToyPools = { pools: [], loaded: new Set(), warmed: new Set() }
    return Effect.gen(function* () {
      yield* set("al_volume", condition("volume_usd", "crosses_above", "50", 300))
      yield* set("al_silent", condition("silent_seconds", "crosses_above", "50"))
      yield* tick
      assert.strictEqual(pools.warmed.size, 0)
      yield* set("al_curve", condition("curve_progress_pct", "crosses_above", "50"))
      assert.isTrue(pools.warmed.has(MINT))
    }).pipe(Effect.provide(alerting(MemoryAlerts.layer, { pools })))
  })

  it.effect("show at /freshness that the holders of a token are not followed, until they are", () => {
    const suggested: { reason: "limit_clipped" | null } = { reason: "limit_clipped" }
    const holders = Layer.succeed(HolderReader, {
      historyOf: () => Effect.die("not asked"),
      holdersOf: () => unknownFigures("not_captured"),
      countOf: () => unavailable("count", "not_captured"),
      suggest: (mint) => (mint === SOL ? "not_captured" : suggested.reason),
      knownOf: () => null
    })
    const mints = makeMints()
    const facts = readMintAccount(classicMint(MINT))
    const observation = { slot: 1, observedAtMs: 1 }
    for (const mint of [MINT, SOL]) {
      mints.known.set(mint, { _tag: "Token", facts: facts._tag === "Mint" ? facts : null, metadata: null, observation })
    }
    return Effect.gen(function* () {
      const monitor = Context.get(yield* Layer.build(SourceMonitor.layer), SourceMonitor.SourceMonitor)
      const state = Effect.andThen(
        tick,
        Effect.map(Clock.currentTimeMillis, (nowMs) => monitor.stateOf("alerts", nowMs))
      )
      yield* Effect.gen(function* () {
        yield* set("al_top", condition("top10_pct", "crosses_above", "30"))
        // Created by an earlier version: the holders of SOL are never followed.
        yield* set("al_money", { mint: SOL, ...condition("top10_pct", "crosses_above", "30") })
        assert.deepInclude(yield* state, { status: "partial", reason: "not_captured" })
        suggested.reason = null
        assert.deepInclude(yield* state, { status: "known" })
      }).pipe(
        Effect.provide(alerting(MemoryAlerts.layer, { holders, mints })),
        Effect.provideService(SourceMonitor.SourceMonitor, monitor)
      )
    })
  })

  it.effect(
    "fire when no trade was seen for a while, even while blocks are missing, and again after the next trade",
    () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* now("silent_seconds"), "unavailable")
        yield* priced(0, [1])
        yield* set("al_mute", {
          ...condition("silent_seconds", "crosses_above", "120"),
          recurrence: "repeat",
          cooldownSeconds: 60
        })
        yield* TestClock.adjust("110 seconds")
        yield* settle
        assert.lengthOf(yield* fired, 0)
        yield* TestClock.adjust("20 seconds")
        yield* settle
        assert.deepStrictEqual(yield* fired, ["al_mute 120"])
        yield* priced(300, [1])
        yield* tick
        yield* TestClock.adjust("130 seconds")
        yield* settle
        assert.deepStrictEqual(yield* fired, ["al_mute 120", "al_mute 120"])
      }).pipe(Effect.provide(alerting(MemoryAlerts.layer)))
  )
})
