import { assert, layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { AlertStore } from "../../src/alerts/AlertStore.ts"
import type { Address } from "../../src/domain/Address.ts"
import { MOST_TRADE_FIRINGS, NO_TRADES, TRADE_FIRINGS_MS } from "../../src/api/schemas/Alert.ts"
import { mintOf, walletOf } from "../market/tape/tape.ts"
import { at } from "../support/clock.ts"
import { ofWallet, START, tradeOf } from "./alerts.ts"

const now = at(START + 1000)
const ALL = { status: null, mint: null, limit: 100, after: null }
const EVERY = { alertId: null, sinceMs: null, limit: 100, after: null }
const A = walletOf(1)

/** An alert store, with the tracking of wallets that it reads. */
export interface TrackedStore<R, E> {
  readonly store: Layer.Layer<AlertStore | R, E>
  readonly track: (accountId: string, wallet: Address) => Effect.Effect<void, never, R>
  readonly untrack: (accountId: string, wallet: Address) => Effect.Effect<void, never, R>
}

/** Signatures of the firings of an account, oldest first, with the number left out before each. */
const fired = Effect.fnUntraced(function* (accountId: string, atMs = START + 1000) {
  const { rows } = yield* AlertStore.use((alerts) => alerts.events(accountId, EVERY)).pipe(at(atMs))
  const trades = rows.flatMap(({ trade }) => trade ?? [])
  return trades.toSorted((a, b) => a.slot - b.slot).map(({ leftOut, signature }) => `${signature} ${leftOut}`)
})

/** Contract of alerts on the trades of wallets. Each test has an account of its own. */
export const walletAlertContract = <R, E>(name: string, { store, track, untrack }: TrackedStore<R, E>) =>
  layer(store, { timeout: "1 minute", excludeTestServices: true })(name, (it) => {
    it.effect("store what they watch, only for wallets that the account tracks", () =>
      Effect.gen(function* () {
        const alerts = yield* AlertStore
        const wanted = ofWallet("al_kept", { accountId: "kept", mint: mintOf(3), side: "sell" })
        assert.strictEqual((yield* Effect.flip(alerts.create(wanted)))._tag, "WalletNotTracked")
        yield* track("kept", A)
        const made = yield* alerts.create(wanted)
        assert.deepInclude(made, { mint: mintOf(3), wallet: A, side: "sell", status: "active", tally: NO_TRADES })
        assert.deepStrictEqual(yield* alerts.find("kept", "al_kept"), made)
        const anywhere = ofWallet("al_any", { accountId: "kept" })
        assert.isNull((yield* alerts.create(anywhere)).mint)
        const others = ofWallet("al_other", { accountId: "other" })
        assert.strictEqual((yield* Effect.flip(alerts.create(others)))._tag, "WalletNotTracked")
        const { rows } = yield* alerts.page("kept", { ...ALL, mint: mintOf(3) })
        assert.deepStrictEqual(rows, [made])
      }).pipe(now)
    )

    it.effect(
      "fire once for each trade, with the trade, even when several processes apply the same trades at once",
      () =>
        Effect.gen(function* () {
          const alerts = yield* AlertStore
          yield* track("each", A)
          const made = yield* alerts.create(ofWallet("al_each", { accountId: "each" }))
          const seen = [{ id: "al_each", trades: [tradeOf(1), tradeOf(2, { side: "sell", mint: mintOf(2) })] }]
          yield* Effect.forEach([1, 2, 3], () => alerts.fire(seen), { concurrency: "unbounded" })
          const [second, first] = (yield* alerts.events("each", EVERY)).rows
          assert.deepStrictEqual(first, {
            eventId: "evt_each_1",
            alertId: "al_each",
            mint: mintOf(1),
            condition: made.condition,
            value: "1000",
            observedAtMs: START,
            firedAtMs: START + 1000,
            trade: {
              signature: "s1",
              slot: 1001,
              index: 7,
              wallet: A,
              side: "buy",
              amount: "18446744073709551615",
              leftOut: 0
            }
          })
          assert.deepInclude(second, { eventId: "evt_each_2", mint: mintOf(2) })
          assert.deepInclude(yield* alerts.find("each", "al_each"), {
            status: "active",
            triggerCount: 2,
            lastTriggeredAtMs: START + 1000,
            version: 2
          })
          // Another place in the same transaction is another trade.
          yield* alerts.fire([{ id: "al_each", trades: [tradeOf(2, { index: 8 })] }])
          assert.lengthOf(yield* fired("each"), 3)
          // A process that comes later with earlier trades.
          const [moved] = yield* alerts.fire([{ id: "al_each", trades: [tradeOf(0), tradeOf(1)] }])
          assert.deepStrictEqual(yield* fired("each"), ["s0 0", "s1 0", "s2 0", "s2 0"])
          assert.deepInclude(moved, { triggerCount: 4, version: 4 })
        }).pipe(now)
    )

    it.effect("fire a limited number of times in an hour, and count the others and trades of unknown value", () =>
      Effect.gen(function* () {
        const alerts = yield* AlertStore
        yield* track("many", A)
        yield* alerts.create(ofWallet("al_many", { accountId: "many" }))
        const trades = Array.from({ length: MOST_TRADE_FIRINGS + 4 }, (_, n) => tradeOf(n))
        const unknown = tradeOf(500, { usdNanos: null })
        const seen = [{ id: "al_many", trades: [...trades, unknown] }]
        yield* alerts.fire(seen)
        const [again] = yield* alerts.fire(seen)
        assert.deepInclude(again?.tally, { leftOut: 4, leftOutStated: 0, unvalued: 1 })
        assert.lengthOf(yield* fired("many"), MOST_TRADE_FIRINGS)
        const laterMs = START + 1000 + TRADE_FIRINGS_MS
        yield* alerts.fire([{ id: "al_many", trades: [tradeOf(900)] }]).pipe(at(laterMs))
        assert.strictEqual((yield* fired("many", laterMs)).at(-1), "s900 4")
      }).pipe(now)
    )

    it.effect("end after one firing with recurrence `once`, and do not fire when paused, removed or unknown", () =>
      Effect.gen(function* () {
        const alerts = yield* AlertStore
        yield* track("ends", A)
        const of = (id: string, recurrence: "once" | "repeat") =>
          alerts.create(ofWallet(id, { accountId: "ends", recurrence }))
        yield* of("al_single", "once")
        yield* of("al_held", "repeat")
        yield* of("al_left", "repeat")
        yield* alerts.change("ends", "al_held", () => Effect.succeed({ status: "paused" }))
        yield* alerts.remove("ends", "al_left")
        const ids = ["al_single", "al_held", "al_left", "al_never"]
        const moved = yield* alerts.fire(ids.map((id) => ({ id, trades: [tradeOf(1), tradeOf(2)] })))
        assert.deepStrictEqual(
          moved.map(({ id, status }) => `${id} ${status}`),
          ["al_single triggered"]
        )
        assert.deepStrictEqual(yield* fired("ends"), ["s1 0"])
        assert.deepStrictEqual(yield* alerts.fire([{ id: "al_single", trades: [tradeOf(3)] }]), [])
      }).pipe(now)
    )

    it.effect("are inactive, and not lost, while their wallet is not tracked", () =>
      Effect.gen(function* () {
        const alerts = yield* AlertStore
        yield* track("loses", A)
        yield* alerts.create(ofWallet("al_loses", { accountId: "loses" }))
        yield* untrack("loses", A)
        assert.deepInclude(yield* alerts.find("loses", "al_loses"), { status: "inactive" })
        const ids = (status: "active" | "inactive") =>
          Effect.map(alerts.page("loses", { ...ALL, status }), ({ rows }) => rows.map(({ id }) => id))
        assert.deepStrictEqual([yield* ids("active"), yield* ids("inactive")], [[], ["al_loses"]])
        const [still] = yield* alerts.fire([{ id: "al_loses", trades: [tradeOf(1)] }])
        assert.deepInclude(still, { status: "inactive", version: 1 })
        assert.deepStrictEqual(yield* fired("loses"), [])
        // A process that starts meanwhile watches it.
        assert.include(
          (yield* alerts.versions).map(({ id }) => id),
          "al_loses"
        )
        assert.lengthOf(yield* alerts.load(["al_loses"]), 1)
        yield* track("loses", A)
        const [back] = yield* alerts.fire([{ id: "al_loses", trades: [tradeOf(2)] }])
        assert.deepInclude(back, { status: "active", triggerCount: 1 })
        assert.deepStrictEqual(yield* fired("loses"), ["s2 0"])
      }).pipe(now)
    )

    it.effect("count anew on another chain", () =>
      Effect.gen(function* () {
        const alerts = yield* AlertStore
        yield* track("anew", A)
        yield* alerts.create(ofWallet("al_anew", { accountId: "anew" }))
        yield* alerts.fire([{ id: "al_anew", trades: [tradeOf(50, { usdNanos: null })] }])
        const watch = { armed: true, cleared: true, mark: 0 }
        yield* alerts.advance([{ id: "al_anew", version: 2, watch, firing: null }])
        const [moved] = yield* alerts.fire([{ id: "al_anew", trades: [tradeOf(1, { usdNanos: null })] }])
        assert.strictEqual(moved?.tally.unvalued, 2)
      }).pipe(now)
    )
  })
