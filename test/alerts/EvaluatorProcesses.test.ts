import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { AlertStore } from "../../src/alerts/AlertStore.ts"
import { Evaluator } from "../../src/alerts/Evaluator.ts"
import type { Market } from "../../src/market/tape/Market.ts"
import type { Tape } from "../../src/market/tape/Tape.ts"
import { type Address, SOL } from "../../src/domain/Address.ts"
import { readMintAccount } from "../../src/tokens/mintAccount.ts"
import { mintOf, walletOf } from "../market/tape/tape.ts"
import { constantProduct } from "../quotes/toyChain.ts"
import { classicMint } from "../tokens/mints.ts"
import type { ToyPools } from "../tokens/toyPools.ts"
import * as MemoryAlerts from "../support/memoryAlerts.ts"
import { alertOf } from "./alerts.ts"
import { alerting, atMicros, fired, makeMints, type Mints, priced, set, settle } from "./world.ts"

/** The time of the next evaluation of every alert. */
const tick = Effect.andThen(TestClock.adjust("2 seconds"), settle)

const MINT = mintOf(1)

/** The token, with that mint authority at a slot. */
const mintBy = ({ known }: Mints, mintAuthority: Address | null, slot: number) => {
  const facts = readMintAccount(classicMint(MINT, { mintAuthority }))
  const observation = { slot, observedAtMs: slot }
  known.set(MINT, { _tag: "Token", facts: facts._tag === "Mint" ? facts : null, metadata: null, observation })
}

const repeating = (metric: "liquidity_drop_pct" | "authority_changes", threshold: string) => ({
  recurrence: "repeat" as const,
  cooldownSeconds: 60,
  condition: {
    metric,
    operator: "crosses_above" as const,
    threshold,
    windowSeconds: 3600 as const,
    source: "swap" as const
  }
})

describe("an evaluator beside other processes", () => {
  it.effect("follows alerts that another process creates, changes and removes, as soon as they are announced", () =>
    Effect.gen(function* () {
      const store = yield* AlertStore
      yield* settle
      yield* priced(0, [9])
      yield* set("al_moved")
      yield* set("al_gone")
      yield* store.change("acct", "al_moved", (alert) =>
        Effect.succeed({ condition: { ...alert.condition, threshold: "20" } })
      )
      yield* store.remove("acct", "al_gone")
      yield* store.create(alertOf("al_unheard", { mint: mintOf(2) }))
      yield* settle
      yield* priced(1, [11], { mint: mintOf(2) })
      yield* priced(2, [11])
      yield* priced(3, [21])
      assert.deepStrictEqual(yield* fired, ["al_unheard 11", "al_moved 21"])
    }).pipe(Effect.provide(alerting(MemoryAlerts.layerShared)))
  )

  it.effect("compares its list with the store at intervals, and never acts on an outdated read", () =>
    Effect.gen(function* () {
      const store = yield* AlertStore
      yield* priced(0, [9])
      yield* set("al_moved")
      yield* store.change("acct", "al_moved", (alert) =>
        Effect.succeed({ condition: { ...alert.condition, threshold: "20" } })
      )
      yield* store.create(alertOf("al_unheard", { mint: mintOf(2) }))
      yield* priced(1, [11])
      assert.deepStrictEqual(yield* fired, [])
      yield* TestClock.adjust("16 seconds")
      yield* settle
      yield* priced(20, [11], { mint: mintOf(2) })
      yield* priced(21, [21])
      assert.deepStrictEqual(yield* fired, ["al_unheard 11", "al_moved 21"])
    }).pipe(Effect.provide(alerting(MemoryAlerts.layer, { settings: { ALERTS_REFRESH: "15 seconds" } })))
  )

  it.effect("fires once when two processes watch the same trades", () =>
    Effect.gen(function* () {
      const store = Layer.succeedContext(yield* Layer.build(MemoryAlerts.layer))
      const processes = [
        yield* Layer.build(Layer.fresh(alerting(store))),
        yield* Layer.build(Layer.fresh(alerting(store)))
      ]
      const inEach = <A, E>(effect: Effect.Effect<A, E, AlertStore | Evaluator | Market | Tape>) =>
        Effect.forEach(processes, (process) => Effect.provideContext(effect, process))
      yield* inEach(priced(0, [9]))
      const [alert] = yield* AlertStore.use((alerts) =>
        Effect.all([alerts.create(alertOf("al_both", { recurrence: "repeat", cooldownSeconds: 60 }))])
      ).pipe(Effect.provide(store))
      yield* inEach(Evaluator.use((evaluator) => evaluator.take(alert)))
      yield* inEach(priced(1, [11]))
      yield* inEach(priced(62, [9]))
      yield* inEach(priced(63, [12]))
      assert.deepStrictEqual(yield* Effect.provide(fired, store), ["al_both 11", "al_both 12"])
    })
  )

  it.effect("fires in the process that evaluates, and never in a process that only gives current values", () =>
    Effect.gen(function* () {
      const store = Layer.succeedContext(yield* Layer.build(MemoryAlerts.layerShared))
      const reads = yield* Layer.build(Layer.fresh(alerting(store, { evaluator: Evaluator.layerReads })))
      const before = yield* Effect.provideContext(
        Evaluator.useSync(({ placeOf }) => placeOf(mintOf(1))),
        reads
      )
      yield* Effect.provideContext(priced(0, [9]), reads)
      yield* Effect.provideContext(set("al_read"), reads)
      yield* Effect.provideContext(priced(1, [11]), reads)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* Effect.provide(fired, store), [])
      const after = yield* Effect.provideContext(
        Evaluator.useSync(({ placeOf }) => placeOf(mintOf(1))),
        reads
      )
      assert.isAbove(after, before)
      const keeper = yield* Layer.build(Layer.fresh(alerting(store)))
      yield* settle
      yield* Effect.provideContext(priced(20, [9]), keeper)
      yield* Effect.provideContext(priced(21, [12]), keeper)
      assert.deepStrictEqual(yield* Effect.provide(fired, store), ["al_read 12"])
    })
  )

  it.effect("fires once for one drop and one change, next to a process that began later", () => {
    const mints = makeMints()
    mints.medians.set(SOL, atMicros(1n))
    mints.medians.set(MINT, atMicros(1n))
    const pools: ToyPools = { pools: [], loaded: new Set([MINT]), warmed: new Set() }
    const hold = (reserve: bigint) => {
      pools.pools = [{ ...constantProduct(walletOf(90), MINT, SOL, [1n, 1n]), reserves: [reserve, reserve] }]
    }
    return Effect.gen(function* () {
      const store = Layer.succeedContext(yield* Layer.build(MemoryAlerts.layerShared))
      const start = Layer.build(Layer.fresh(alerting(store, { mints, pools })))
      const pricedIn = (process: Effect.Success<typeof start>, second: number) =>
        Effect.andThen(Effect.provideContext(priced(second, [1]), process), tick)
      hold(5_000_000n)
      mintBy(mints, walletOf(1), 10)
      const early = yield* start
      yield* pricedIn(early, 0)
      yield* Effect.provideContext(
        Effect.andThen(
          set("al_drop", repeating("liquidity_drop_pct", "30")),
          set("al_changes", repeating("authority_changes", "1"))
        ),
        early
      )
      yield* pricedIn(early, 4)
      hold(3_000_000n)
      mintBy(mints, null, 20)
      yield* pricedIn(early, 8)
      const both = ["al_changes 1", "al_drop 40"]
      assert.sameMembers(yield* Effect.provide(fired, store), both)
      const late = yield* start
      for (const second of [80, 160, 240, 320]) {
        yield* pricedIn(late, second)
        yield* pricedIn(early, second + 3)
      }
      assert.sameMembers(yield* Effect.provide(fired, store), both)
      // Both are armed again after the window has passed.
      for (const second of [3700, 3710, 4000]) {
        yield* pricedIn(late, second)
        yield* pricedIn(early, second + 3)
      }
      hold(1_500_000n)
      mintBy(mints, walletOf(2), 30)
      yield* pricedIn(late, 4010)
      yield* pricedIn(early, 4013)
      assert.sameMembers(yield* Effect.provide(fired, store), [...both, "al_changes 1", "al_drop 50"])
    })
  })

  it.effect("counts a change of authorities from before its start, and a change while it was away", () => {
    const mints = makeMints()
    return Effect.gen(function* () {
      const store = Layer.succeedContext(yield* Layer.build(MemoryAlerts.layerShared))
      const running = <A, E>(use: Effect.Effect<A, E, AlertStore | Evaluator | Market | Tape>) =>
        use.pipe(Effect.provide(Layer.fresh(alerting(store, { mints }))))
      mintBy(mints, walletOf(1), 10)
      yield* running(
        Effect.gen(function* () {
          yield* priced(0, [1])
          yield* set("al_changes", repeating("authority_changes", "2"))
          yield* tick
          mintBy(mints, walletOf(2), 20)
          yield* tick
        })
      )
      assert.deepStrictEqual(yield* Effect.provide(fired, store), [])
      mintBy(mints, null, 30)
      yield* running(Effect.andThen(priced(600, [1]), tick))
      assert.deepStrictEqual(yield* Effect.provide(fired, store), ["al_changes 2"])
    })
  })
})
