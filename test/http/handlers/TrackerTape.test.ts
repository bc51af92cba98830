/** The tracker over blocks as they come: the real feed, the real store, a real socket. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Tape } from "../../../src/market/tape/Tape.ts"
import * as KeepActivity from "../../../src/wallets/tracker/keepActivity.ts"
import { Tickets } from "../../../src/wallets/tracker/Tickets.ts"
import { TrackerStore } from "../../../src/wallets/tracker/TrackerStore.ts"
import { call, running } from "../../support/http.ts"
import { blockOf, feedOver, timeOf, walletOf } from "../../wallets/tracker/liveScene.ts"
import { keys, listed, SNAPSHOT, track, TRADES } from "./trackerCalls.ts"

const BEGIN = 1000
const [early, late] = [walletOf(1), walletOf(2)]

/** The service and its feed over one tape, from when the chain stood at `BEGIN`. */
const served = Layer.unwrap(
  Effect.gen(function* () {
    yield* TestClock.setTime(timeOf(BEGIN))
    const tracked = KeepActivity.layer.pipe(Layer.provideMerge(feedOver()), Layer.provideMerge(Tickets.layerMemory))
    const built = Layer.succeedContext(yield* Layer.build(tracked))
    return Layer.merge(running({ keys, tracker: built, trackerFeed: built }), built)
  })
)

/** Applies the block of a slot in which the wallets bought, and lets its time pass. */
const bought = Effect.fnUntraced(function* (slot: number, wallets: ReadonlyArray<typeof early>) {
  const tape = yield* Tape
  yield* TestClock.setTime(timeOf(slot))
  yield* tape.apply(
    blockOf(
      slot,
      wallets.map((wallet) => ({ wallet }))
    )
  )
  yield* Effect.yieldNow.pipe(Effect.repeat({ times: 20 }))
})

interface Trades {
  readonly count: number
  readonly oldestTs: number | null
  readonly newestTs: number | null
  readonly trades: ReadonlyArray<{ readonly ts: number; readonly wallet: string; readonly eventId: string }>
  readonly truncated: boolean
}

const tradesOf = Effect.fnUntraced(function* (key: string, query = "") {
  const answer = yield* call(TRADES + query, { key })
  assert.strictEqual(answer.status, 200, answer.text)
  const body: Trades = JSON.parse(answer.text)
  return body
})

layer(served)("a wallet that trades", (it) => {
  it.effect("is live with its first trade since it was added, and shows no trade from before", () =>
    Effect.gen(function* () {
      yield* bought(BEGIN, [early])
      yield* track("a", { wallet: early })
      assert.strictEqual((yield* tradesOf("a")).count, 0)
      assert.strictEqual((yield* listed("a"))[0]?.["status"], "pending")
      yield* bought(BEGIN + 10, [early, late])
      assert.deepInclude((yield* listed("a"))[0], { status: "live", lastEventAtMs: timeOf(BEGIN + 10) })
      const { trades } = yield* tradesOf("a")
      assert.deepStrictEqual(
        trades.map(({ ts, wallet }) => [ts, wallet]),
        [[timeOf(BEGIN + 10), early]]
      )
      // Another account adds the same wallet ten seconds later: for it, nothing has happened.
      yield* TestClock.setTime(timeOf(BEGIN + 30))
      yield* track("b", { wallet: early })
      assert.deepStrictEqual(yield* tradesOf("b"), {
        count: 0,
        trades: [],
        oldestTs: null,
        newestTs: null,
        truncated: false
      })
      assert.strictEqual((yield* listed("b"))[0]?.["status"], "pending")
      yield* bought(BEGIN + 40, [early])
      assert.deepStrictEqual(
        (yield* tradesOf("b")).trades.map(({ ts }) => ts),
        [timeOf(BEGIN + 40)]
      )
      assert.strictEqual((yield* tradesOf("a")).count, 2)
      const { json } = yield* call(SNAPSHOT, { key: "b" })
      assert.strictEqual(json("status.state"), "live")
      assert.strictEqual(json("status.walletsLive"), 1)
    })
  )

  it.effect("has its last activity stored", () =>
    Effect.gen(function* () {
      yield* track("c", { wallet: late })
      yield* bought(BEGIN + 50, [late])
      yield* TestClock.adjust("2 seconds")
      const store = yield* TrackerStore
      const { wallets } = yield* store.overview({ accountId: "account_c", groupId: null })
      assert.strictEqual(wallets[0]?.lastEventAtMs, timeOf(BEGIN + 50))
    })
  )

  it.effect("has some 250 of its trades held, and reports when older ones are missing", () =>
    Effect.gen(function* () {
      yield* track("d", { wallet: early })
      for (let i = 0; i < 200; i++) {
        yield* bought(BEGIN + 100 + i, [early])
      }
      yield* TestClock.setTime(timeOf(BEGIN + 305))
      yield* track("e", { wallet: early })
      assert.strictEqual((yield* tradesOf("d", "?limit=500")).truncated, false)
      for (let i = 0; i < 100; i++) {
        yield* bought(BEGIN + 310 + i, [early])
      }
      const all = yield* tradesOf("d", "?limit=500")
      assert.isTrue(all.truncated)
      assert.strictEqual(all.count, 250)
      assert.strictEqual(new Set(all.trades.map(({ eventId }) => eventId)).size, 250)
      assert.deepInclude(yield* tradesOf("e", "?limit=500"), { count: 100, truncated: false })
      assert.strictEqual((yield* tradesOf("d")).count, 100)
    })
  )
})
