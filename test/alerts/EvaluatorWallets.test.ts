import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { AlertStore } from "../../src/alerts/AlertStore.ts"
import { Evaluator } from "../../src/alerts/Evaluator.ts"
import type { TapeTrade } from "../../src/market/model/TapeTrade.ts"
import { Tape } from "../../src/market/tape/Tape.ts"
import { mintOf, MONDAY, trade, walletOf } from "../market/tape/tape.ts"
import { block } from "../support/reads.ts"
import * as MemoryAlerts from "../support/memoryAlerts.ts"
import { ofWallet } from "./alerts.ts"
import { alerting, EVERY, set, settle } from "./world.ts"

const memory = () => alerting(MemoryAlerts.layer)
const measure = { metric: "wallet_trade_usd", windowSeconds: null, source: "swap" } as const

/** One block with these trades of a thousand dollars, this many seconds after `MONDAY`. */
const traded = Effect.fnUntraced(function* (
  second: number,
  given: ReadonlyArray<Partial<TapeTrade>>,
  atSecond = second
) {
  const tape = yield* Tape
  const timeMs = (MONDAY + second) * 1000
  yield* TestClock.setTime((MONDAY + atSecond) * 1000)
  const trades = given.map((other, index) =>
    trade({
      slot: 1000 + second,
      index,
      timeMs,
      signature: `s${second}_${index}`,
      volumeUsdNanos: 1_000_000_000_000n,
      ...other
    })
  )
  yield* tape.apply(block(second, { trades }))
  yield* settle
})

/** Signatures of the firings so far, oldest first. */
const fired = Effect.gen(function* () {
  const { rows } = yield* (yield* AlertStore).events("acct", EVERY)
  return rows.toReversed().map(({ trade: of }) => of?.signature)
})

describe("the evaluator of trades of wallets", () => {
  it.effect("fires for each trade of the wallet that is large enough, in any token, and for no other", () =>
    Effect.gen(function* () {
      yield* traded(0, [{}])
      yield* set("al_price")
      yield* set("al_wallet", ofWallet("al_wallet"))
      yield* traded(1, [
        { mint: mintOf(4) },
        { wallet: walletOf(2) },
        { role: "pool" },
        { role: "wallet", side: "sell" },
        { volumeUsdNanos: 499_000_000_000n },
        { volumeUsdNanos: null }
      ])
      yield* traded(2, [{}])
      assert.deepStrictEqual(yield* fired, ["s1_0", "s1_3", "s2_0"])
      const alert = yield* (yield* AlertStore).find("acct", "al_wallet")
      assert.deepInclude(alert?.tally, { unvalued: 1, leftOut: 0 })
    }).pipe(Effect.provide(memory()))
  )

  it.effect("never fires for blocks that are earlier, come again, or come a minute late", () =>
    Effect.gen(function* () {
      yield* traded(0, [{}])
      const createdAtMs = (MONDAY + 1) * 1000 + 500
      const { placeOf } = yield* Evaluator
      yield* set("al_wallet", ofWallet("al_wallet", { createdAtMs, mark: placeOf(null) }))
      // The next slot in the previous second, and a block that was evaluated already.
      yield* traded(0, [{ slot: 1001 }], 2)
      yield* traded(2, [{ slot: 1000 }])
      assert.deepStrictEqual(yield* fired, [])
      yield* traded(3, [{}])
      yield* traded(3, [{}], 4)
      yield* traded(5, [{}], 66)
      assert.deepStrictEqual(yield* fired, ["s3_0"])
    }).pipe(Effect.provide(memory()))
  )

  it.effect("stops with a pause and continues with the next block after it", () =>
    Effect.gen(function* () {
      const store = yield* AlertStore
      const { take } = yield* Evaluator
      yield* traded(0, [{}])
      yield* set("al_wallet", ofWallet("al_wallet"))
      const paused = yield* store.change("acct", "al_wallet", () => Effect.succeed({ status: "paused" }))
      yield* paused === null ? Effect.die("the alert is gone") : take(paused)
      yield* traded(1, [{}])
      const active = yield* store.change("acct", "al_wallet", () => Effect.succeed({ status: "active" }))
      yield* active === null ? Effect.die("the alert is gone") : take(active)
      yield* traded(2, [{}])
      assert.deepStrictEqual(yield* fired, ["s2_0"])
    }).pipe(Effect.provide(memory()))
  )

  it.effect("fires once for each trade when several processes watch, even if one is ahead of another", () =>
    Effect.gen(function* () {
      const store = Layer.succeedContext(yield* Layer.build(MemoryAlerts.layerShared))
      const processes = [
        yield* Layer.build(Layer.fresh(alerting(store))),
        yield* Layer.build(Layer.fresh(alerting(store)))
      ] as const
      yield* Effect.provide(
        AlertStore.use((alerts) => alerts.create(ofWallet("al_both"))),
        store
      )
      yield* settle
      // The second has started after a block that the first still waits to store.
      yield* Effect.provideContext(traded(2, [{}]), processes[1])
      yield* Effect.provideContext(traded(1, [{}, {}], 2), processes[0])
      yield* Effect.provideContext(traded(2, [{}]), processes[0])
      const events = yield* Effect.provide(fired, store)
      assert.deepStrictEqual(events.toSorted(), ["s1_0", "s1_1", "s2_0"])
    })
  )

  it.effect("shows the state of the blocks in place of a value", () =>
    Effect.gen(function* () {
      const { now } = yield* Evaluator
      const stateAt = (second: number) => now(null, measure, (MONDAY + second) * 1000).state
      assert.strictEqual(stateAt(0), "unavailable")
      yield* traded(0, [{}])
      assert.strictEqual(stateAt(1), "watching")
      assert.strictEqual(stateAt(31), "stale")
    }).pipe(Effect.provide(memory()))
  )
})
