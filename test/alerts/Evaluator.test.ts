import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { AlertStore } from "../../src/alerts/AlertStore.ts"
import { Evaluator } from "../../src/alerts/Evaluator.ts"
import { USDC } from "../../src/domain/Address.ts"
import { decimalText } from "../../src/domain/rational.ts"
import type { AlertCondition, NewAlert } from "../../src/api/schemas/Alert.ts"
import { orderKey } from "../../src/market/model/TradeRecord.ts"
import { Tape } from "../../src/market/tape/Tape.ts"
import { mintOf, MONDAY, trade } from "../market/tape/tape.ts"
import { block, minted } from "../support/reads.ts"
import { renewableTape } from "../support/renewableTape.ts"
import * as MemoryAlerts from "../support/memoryAlerts.ts"
import { alertOf } from "./alerts.ts"
import { alerting, atMicros, EVERY, fired, makeMints, priced, set, settle } from "./world.ts"

const on = (condition: Partial<AlertCondition>): Partial<NewAlert> => ({
  condition: {
    metric: "price_usd",
    operator: "crosses_above",
    threshold: "10",
    windowSeconds: null,
    source: "swap",
    ...condition
  }
})

const memory = () => alerting(MemoryAlerts.layer)

describe("the evaluator", () => {
  it.effect("fires on a swap inside a block, with the price and time of that swap", () =>
    Effect.gen(function* () {
      yield* priced(0, [9])
      yield* set("al_inside")
      yield* priced(1, [9.5, 10.25, 9.5])
      const { rows } = yield* (yield* AlertStore).events("acct", EVERY)
      assert.deepStrictEqual(rows, [
        {
          eventId: "evt_inside_1",
          alertId: "al_inside",
          mint: mintOf(1),
          condition: alertOf("al_inside").condition,
          value: "10.25",
          observedAtMs: (MONDAY + 1) * 1000,
          firedAtMs: (MONDAY + 1) * 1000,
          trade: null
        }
      ])
    }).pipe(Effect.provide(memory()))
  )

  it.effect("never fires for values from before the alert was created, however late they arrive", () =>
    Effect.gen(function* () {
      yield* priced(0, [9])
      const createdAtMs = (MONDAY + 30) * 1000 + 400
      yield* set("al_late", { createdAtMs })
      yield* set("al_change", {
        createdAtMs,
        condition: { metric: "change_pct", operator: "rises_by", threshold: "5", windowSeconds: 300, source: "swap" }
      })
      yield* priced(29, [11])
      assert.deepStrictEqual(yield* fired, [])
      yield* priced(30, [12])
      assert.include(yield* fired, "al_late 12")
    }).pipe(Effect.provide(memory()))
  )

  it.effect("watches another chain from its beginning, whatever the places of the previous chain were", () => {
    const { layer, renew } = renewableTape()
    return Effect.gen(function* () {
      yield* set("al_anew", { mark: orderKey(1_000_000, 0) })
      yield* set("al_sol", on({ metric: "price_sol", threshold: "0.01" }))
      yield* priced(500, [11], { amount: 1_000_000n, lamports: 9_000_000n })
      assert.deepStrictEqual(yield* fired, [])
      const evaluator = yield* Evaluator
      assert.isAbove(evaluator.placeOf(mintOf(1)), 0)
      yield* renew
      yield* priced(501, [11], { slot: 7, amount: 1_000_000n, lamports: 11_000_000n })
      assert.sameMembers(yield* fired, ["al_anew 11", "al_sol 0.011"])
    }).pipe(Effect.provide(alerting(MemoryAlerts.layer, { tape: layer })))
  })

  it.effect("ignores alerts on other tokens, and trades that only wallets count", () =>
    Effect.gen(function* () {
      yield* set("al_other", { mint: mintOf(2) })
      yield* set("al_this")
      yield* priced(1, [11], { role: "wallet" })
      assert.deepStrictEqual(yield* fired, [])
      yield* priced(2, [11])
      assert.deepStrictEqual(yield* fired, ["al_this 11"])
    }).pipe(Effect.provide(memory()))
  )

  it.effect("compares prices in SOL exactly as the pool traded", () =>
    Effect.gen(function* () {
      yield* set("al_sol", on({ metric: "price_sol", threshold: "0.010000001" }))
      yield* priced(1, [1], { amount: 1_000_000n, lamports: 10_000_000n })
      yield* priced(2, [1], { amount: 1_000_000n, lamports: null })
      assert.deepStrictEqual(yield* fired, [])
      yield* priced(3, [1], { amount: 1_000_000n, lamports: 10_000_001n })
      assert.deepStrictEqual(yield* fired, ["al_sol 0.010000001"])
    }).pipe(Effect.provide(memory()))
  )

  it.effect("counts the whole supply at the price, once it is known", () => {
    const mints = makeMints()
    return Effect.gen(function* () {
      yield* set("al_cap", on({ metric: "market_cap_usd", threshold: "5000" }))
      yield* priced(1, [4])
      assert.deepStrictEqual(yield* fired, [])
      yield* TestClock.adjust("2 seconds")
      yield* settle
      assert.deepStrictEqual([...mints.warmed], [mintOf(1)])
      mints.known.set(mintOf(1), minted(1_000_000_000n, 6))
      yield* priced(5, [5])
      assert.deepStrictEqual(yield* fired, ["al_cap 5000"])
    }).pipe(Effect.provide(alerting(MemoryAlerts.layer, { mints })))
  })

  it.effect("measures changes from the price in force when the window began, and only over the observed time", () =>
    Effect.gen(function* () {
      yield* set("al_fall", on({ metric: "change_pct", operator: "falls_by", threshold: "50", windowSeconds: 300 }))
      yield* priced(0, [8])
      yield* priced(200, [2])
      assert.deepStrictEqual(yield* fired, [])
      yield* priced(310, [6])
      assert.deepStrictEqual(yield* fired, [])
      yield* priced(311, [4])
      assert.deepStrictEqual(yield* fired, ["al_fall -50"])
    }).pipe(Effect.provide(memory()))
  )

  it.effect("evaluates every alert at an interval: a change continues without trades", () =>
    Effect.gen(function* () {
      yield* set("al_rise", on({ metric: "change_pct", operator: "rises_by", threshold: "100", windowSeconds: 300 }))
      yield* priced(0, [4])
      yield* priced(1, [1])
      yield* priced(100, [2])
      yield* priced(299, [1], { mint: mintOf(2) })
      assert.deepStrictEqual(yield* fired, [])
      // Nothing is traded; the expensive beginning leaves the window.
      yield* priced(302, [])
      yield* TestClock.adjust("2 seconds")
      yield* settle
      assert.deepStrictEqual(yield* fired, ["al_rise 100"])
    }).pipe(Effect.provide(memory()))
  )

  it.effect("evaluates tokens without counted swaps, such as USDC, by the median over their pools", () => {
    const mints = makeMints()
    return Effect.gen(function* () {
      yield* priced(0, [9])
      mints.medians.set(USDC, atMicros(1n))
      mints.known.set(USDC, minted(9_000_000_000n, 6))
      const level = { metric: "market_cap_usd", threshold: "10000" } as const
      yield* set("al_usdc", { ...on(level), mint: USDC })
      const evaluator = yield* Evaluator
      const reading = evaluator.now(USDC, { ...alertOf("al_usdc").condition, ...level }, (MONDAY + 1) * 1000)
      assert.strictEqual(reading.state === "ok" ? decimalText(reading.seen.value) : null, "9000")
      mints.known.set(USDC, minted(11_000_000_000n, 6))
      yield* TestClock.adjust("2 seconds")
      yield* settle
      assert.deepStrictEqual(yield* fired, ["al_usdc 11000"])
    }).pipe(Effect.provide(alerting(MemoryAlerts.layer, { mints })))
  })

  it.effect("loads the pools of a token that no swap has priced, until it has a price", () => {
    const mints = makeMints()
    return Effect.gen(function* () {
      yield* set("al_quiet", { ...on({}), mint: mintOf(8) })
      assert.deepStrictEqual([...mints.pooled], [mintOf(8)])
      mints.known.set(mintOf(8), minted(1n, 6))
      mints.medians.set(mintOf(8), atMicros(11n))
      mints.pooled.clear()
      yield* TestClock.adjust("2 seconds")
      yield* settle
      assert.deepStrictEqual([yield* fired, [...mints.pooled]], [["al_quiet 11"], []])
    }).pipe(Effect.provide(alerting(MemoryAlerts.layer, { mints })))
  })

  it.effect(
    "does not fire a median for a single trade, and fires it at the next evaluation once the pools have moved",
    () => {
      const mints = makeMints()
      return Effect.gen(function* () {
        mints.known.set(mintOf(1), minted(1_000_000_000n, 6))
        mints.medians.set(mintOf(1), atMicros(9n))
        yield* priced(0, [9])
        yield* set("al_swap", on({ metric: "market_cap_usd", threshold: "10000" }))
        yield* set("al_median", on({ metric: "market_cap_usd", threshold: "10000", source: "median" }))
        yield* priced(1, [50])
        yield* TestClock.adjust("2 seconds")
        yield* settle
        assert.deepStrictEqual(yield* fired, ["al_swap 50000"])
        mints.medians.set(mintOf(1), atMicros(21n, 2n))
        yield* TestClock.adjust("2 seconds")
        yield* settle
        assert.deepStrictEqual(yield* fired, ["al_swap 50000", "al_median 10500"])
      }).pipe(Effect.provide(alerting(MemoryAlerts.layer, { mints })))
    }
  )

  it.effect("fires again only after the value came back by a percent and the cooldown passed", () =>
    Effect.gen(function* () {
      yield* priced(0, [9])
      yield* set("al_again", { recurrence: "repeat", cooldownSeconds: 60 })
      yield* priced(1, [11, 9, 11])
      yield* priced(30, [9.95, 10.5])
      yield* priced(70, [10.2])
      assert.deepStrictEqual(yield* fired, ["al_again 11"])
      yield* priced(71, [9.95, 10.1])
      assert.deepStrictEqual(yield* fired, ["al_again 11", "al_again 10.1"])
      yield* priced(72, [9])
      yield* priced(140, [10.3])
      assert.deepStrictEqual(yield* fired, ["al_again 11", "al_again 10.1"])
    }).pipe(Effect.provide(memory()))
  )

  it.effect("is silent while blocks are old or the tape is silent, and fires once it has caught up", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* set("al_past")
      yield* TestClock.setTime((MONDAY + 3600) * 1000)
      const old = (second: number, priceUsd: number) =>
        tape.apply(
          block(second, { trades: [trade({ slot: 1000 + second, timeMs: (MONDAY + second) * 1000, priceUsd })] })
        )
      yield* old(1, 9)
      yield* old(2, 12)
      yield* settle
      yield* TestClock.adjust("4 seconds")
      yield* settle
      assert.deepStrictEqual(yield* fired, [])
      const evaluator = yield* Evaluator
      const { condition } = alertOf("al_past")
      const reading = evaluator.now(mintOf(1), condition, (MONDAY + 3604) * 1000)
      assert.deepStrictEqual(reading, { state: "stale", observedAtMs: (MONDAY + 2) * 1000 })
      yield* priced(3605, [12])
      assert.deepStrictEqual(yield* fired, ["al_past 12"])
    }).pipe(Effect.provide(memory()))
  )

  it.effect("does not fire paused, removed or expired alerts", () =>
    Effect.gen(function* () {
      const [store, evaluator] = [yield* AlertStore, yield* Evaluator]
      yield* priced(0, [9])
      yield* set("al_paused")
      yield* set("al_gone")
      yield* set("al_over", { expiresAtMs: (MONDAY + 5) * 1000 })
      const paused = yield* store.change("acct", "al_paused", () => Effect.succeed({ status: "paused" }))
      yield* paused === null ? Effect.die("it was there") : evaluator.take(paused)
      yield* store.remove("acct", "al_gone")
      yield* priced(5, [11])
      assert.deepStrictEqual(yield* fired, [])
    }).pipe(Effect.provide(memory()))
  )
})
