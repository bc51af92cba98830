import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Queue, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { Address } from "../../../src/domain/Address.ts"
import type { LiveEvent, LiveGap } from "../../../src/api/schemas/LiveFrame.ts"
import { SUBSCRIBER_BUFFER } from "../../../src/market/tape/makeMarket.ts"
import type { CountedBatch } from "../../../src/market/model/TradeBatch.ts"
import { Market } from "../../../src/market/tape/Market.ts"
import { ownTurn } from "../../../src/domain/loopTime.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { TrackerFeed } from "../../../src/wallets/tracker/TrackerFeed.ts"
import { TRADES_PER_WALLET, type WalletLedger } from "../../../src/wallets/tracker/WalletLedger.ts"
import { WalletLedgers } from "../../../src/wallets/tracker/WalletLedgers.ts"
import { WatchList } from "../../../src/wallets/tracker/WatchList.ts"
import { renewableTape } from "../../support/renewableTape.ts"
import { eventually } from "../../support/tokens.ts"
import { blockOf, feedOver, timeOf, walletOf } from "./liveScene.ts"

const watch = (...wallets: ReadonlyArray<Address>) =>
  WatchList.use((list) => Effect.sync(() => wallets.forEach((wallet) => list.add({ wallet, addedAtMs: 0 }))))

const asked = (...wallets: ReadonlyArray<Address>) => wallets.map((wallet) => ({ wallet, sinceMs: 0 }))

/** Applies blocks to the tape and waits until the feed has processed them. */
const happen = (...batches: ReadonlyArray<ReturnType<typeof blockOf>>) =>
  Tape.use((tape) => Effect.forEach(batches, (batch) => tape.apply(batch), { discard: true })).pipe(
    Effect.andThen(Effect.yieldNow),
    Effect.andThen(TestClock.adjust(1))
  )

/** Records every event and gap until the test ends. */
const listening = Effect.gen(function* () {
  const feed = yield* TrackerFeed
  const seen: { readonly events: Array<LiveEvent>; readonly gaps: Array<LiveGap> } = { events: [], gaps: [] }
  yield* feed.follow({
    wants: () => true,
    take: (events) => void seen.events.push(...events),
    lost: (gap) => void seen.gaps.push(gap)
  })
  return seen
})

layer(feedOver())("TrackerFeed.layer", (it) => {
  it.effect(
    "holds the newest 250 trades of each watched wallet, newest first, and marks dropped ones as truncated",
    () =>
      Effect.gen(function* () {
        const [a, b, c] = [walletOf(1), walletOf(2), walletOf(3)]
        yield* watch(a, b)
        const feed = yield* TrackerFeed
        for (let slot = 1; slot <= TRADES_PER_WALLET; slot++) {
          yield* happen(blockOf(slot, [{ wallet: a }, { wallet: c }]))
        }
        assert.isFalse(feed.tradesOf(asked(a), 500).truncated)
        yield* happen(blockOf(251, [{ wallet: a }, { wallet: b }]))
        const { newestTs, oldestTs, trades, truncated } = feed.tradesOf(asked(a, b, c), 500)
        assert.lengthOf(trades, TRADES_PER_WALLET + 1)
        assert.isTrue(truncated)
        assert.isFalse(feed.tradesOf(asked(b), 500).truncated)
        assert.deepStrictEqual([trades[0]?.wallet, trades[1]?.wallet, trades.at(-1)?.slot], [b, a, 2])
        assert.deepStrictEqual([newestTs, oldestTs], [timeOf(251), timeOf(2)])
        assert.lengthOf(feed.tradesOf(asked(a, b), 3).trades, 3)
        assert.deepStrictEqual(feed.tradesOf(asked(c), 9), {
          trades: [],
          oldestTs: null,
          newestTs: null,
          truncated: false
        })
        assert.deepStrictEqual([feed.lastEventAtMs(a), feed.lastEventAtMs(c)], [timeOf(251), null])
      })
  )

  it.effect("drops a wallet once no account tracks it", () =>
    Effect.gen(function* () {
      const [kept, gone] = [walletOf(11), walletOf(12)]
      yield* watch(kept, gone)
      const feed = yield* TrackerFeed
      yield* happen(blockOf(300, [{ wallet: kept }, { wallet: gone }]))
      const list = yield* WatchList
      list.replace([{ wallet: kept, addedAtMs: 0 }], list.mark())
      yield* TestClock.adjust("30 seconds")
      assert.lengthOf(feed.tradesOf(asked(kept), 9).trades, 1)
      assert.lengthOf(feed.tradesOf(asked(gone), 9).trades, 0)
      assert.isNull(feed.lastEventAtMs(gone))
    })
  )

  it.effect("publishes active wallets, each once per block", () =>
    Effect.gen(function* () {
      const [a, b] = [walletOf(21), walletOf(22)]
      yield* watch(a, b)
      const feed = yield* TrackerFeed
      const seen = yield* Effect.forkChild(Stream.runCollect(Stream.take(feed.activity, 3)), { startImmediately: true })
      yield* happen(blockOf(310, [{ wallet: a }, { wallet: a }, { wallet: b }]), blockOf(320, [{ wallet: a }]))
      assert.deepStrictEqual(Array.from(yield* Fiber.join(seen)), [
        { wallet: a, atMs: timeOf(310) },
        { wallet: b, atMs: timeOf(310) },
        { wallet: a, atMs: timeOf(320) }
      ])
    })
  )

  it.effect("reports the age of the newest block", () =>
    Effect.gen(function* () {
      const feed = yield* TrackerFeed
      yield* happen(blockOf(330, []))
      assert.strictEqual(feed.health(timeOf(330) + 640).ingestLagMs, 640)
      assert.strictEqual(feed.health(timeOf(330) - 5).ingestLagMs, 0)
      assert.isNotNull(feed.health(0).heardAtMs)
    })
  )

  it.effect("reports blocks of another fork as a gap that begins before the first of them", () =>
    Effect.gen(function* () {
      const seen = yield* listening
      yield* happen(blockOf(336, []))
      yield* happen(blockOf(337, [], { afterGap: true, forkedFrom: 334 }))
      assert.lengthOf(seen.gaps, 1)
      assert.isAtMost(seen.gaps[0]?.fromMs ?? Number.NaN, timeOf(334))
      assert.strictEqual(seen.gaps[0]?.toMs, timeOf(337))
    })
  )

  it.effect("reports a gap of the chain, and its own gap when it fell behind the tape", () =>
    Effect.gen(function* () {
      const seen = yield* listening
      yield* happen(blockOf(340, []))
      yield* happen(blockOf(360, [], { afterGap: true }))
      assert.deepStrictEqual(seen.gaps, [{ fromMs: timeOf(340), toMs: timeOf(360), reason: "source_gap" }])
      const feed = yield* TrackerFeed
      const tape = yield* Tape
      yield* watch(walletOf(31))
      const many = Array.from({ length: SUBSCRIBER_BUFFER + 5 }, (_, n) => blockOf(401 + n, []))
      // All of this happens while the feed is still busy with the previous block.
      yield* feed.follow({
        wants: () => true,
        take: () => many.splice(0).forEach((batch) => Effect.runSync(tape.apply(batch))),
        lost: () => undefined
      })
      yield* happen(blockOf(400, [{ wallet: walletOf(31) }]))
      yield* eventually(
        Effect.sync(() => seen.gaps.length),
        (gaps) => gaps === 2
      )
      assert.deepStrictEqual(
        seen.gaps.map(({ reason }) => reason),
        ["source_gap", "behind"]
      )
    })
  )
})

/** Blocks as a subscriber gets them that may have missed some. */
const counted = Effect.runSync(Queue.unbounded<CountedBatch>())
const behindTape = Layer.effect(
  Market,
  Effect.map(Market, (market) => Object.create(market, { appliedCounted: { value: Stream.fromQueue(counted) } }))
).pipe(Layer.provideMerge(Market.layerManual()))

layer(feedOver(undefined, behindTape))("TrackerFeed.layer behind the tape", (it) => {
  it.effect(
    "begins its gap before the first block of another fork, although it missed the block that reported it",
    () =>
      Effect.gen(function* () {
        const seen = yield* listening
        const earlierForks = [{ slot: 2003, from: 1998 }]
        const later = (slot: number) => blockOf(slot, [], { earlierForks })
        yield* Queue.offerAll(counted, [
          { batch: blockOf(2001, []), missed: 0, isAnew: false },
          { batch: later(2009), missed: 7, isAnew: false },
          // It knows of the fork now.
          { batch: later(2019), missed: 9, isAnew: false }
        ])
        yield* eventually(
          Effect.sync(() => seen.gaps.length),
          (gaps) => gaps === 2
        )
        const [forked, behind] = seen.gaps
        assert.deepInclude(forked, { toMs: timeOf(2009), reason: "behind" })
        assert.isAtMost(forked?.fromMs ?? Number.NaN, timeOf(1998))
        assert.deepStrictEqual(behind, { fromMs: timeOf(2009), toMs: timeOf(2019), reason: "behind" })
      })
  )
})

describe("the tracker feed after a block that cannot be applied", () => {
  it.effect("goes on, with a gap before the next block", () =>
    Effect.gen(function* () {
      const seen = yield* listening
      const feed = yield* TrackerFeed
      yield* watch(walletOf(41))
      yield* happen(blockOf(500, []))
      let isBroken = true
      yield* feed.follow({
        wants: () => true,
        take: () => {
          if (isBroken) {
            isBroken = false
            throw new Error("a follower is broken")
          }
        },
        lost: () => undefined
      })
      yield* happen(blockOf(501, [{ wallet: walletOf(41) }]))
      yield* happen(blockOf(502, [{ wallet: walletOf(41) }]))
      yield* eventually(
        Effect.sync(() => seen.gaps.length),
        (gaps) => gaps === 1
      )
      assert.deepStrictEqual(
        seen.gaps.map(({ reason }) => reason),
        ["behind"]
      )
    }).pipe(Effect.provide(feedOver()))
  )
})

const slotsOf = ({ trades }: WalletLedger) => Array.from(trades.newest(), ({ read }) => read().slot)

describe("WalletLedgers", () => {
  it("drops the oldest trade of all wallets beyond the limit", () => {
    const ledgers = new WalletLedgers(4)
    const [a, b] = [ledgers.of(walletOf(1)), ledgers.of(walletOf(2))]
    for (const [slot, ledger] of [a, b, a, b, b, b].entries()) {
      const [trade] = blockOf(slot, [{ wallet: ledger.wallet }]).trades
      if (trade !== undefined) {
        ledgers.add(ledger, trade)
      }
    }
    assert.deepStrictEqual(slotsOf(a), [2])
    assert.deepStrictEqual(slotsOf(b), [3, 4, 5])
    assert.isTrue(a.truncated && b.truncated)
  })
})

it.effect("holds nothing of the previous chain once another begins, and reports the gap", () => {
  const { layer: tape, renew } = renewableTape()
  return Effect.gen(function* () {
    const wallet = walletOf(1)
    yield* watch(wallet)
    const feed = yield* TrackerFeed
    const seen = yield* listening
    yield* happen(blockOf(900, [{ wallet }]), blockOf(901, [{ wallet }]))
    assert.lengthOf(feed.tradesOf(asked(wallet), 9).trades, 2)
    yield* renew
    yield* happen(blockOf(3, [{ wallet }]))
    assert.deepStrictEqual(
      feed.tradesOf(asked(wallet), 9).trades.map(({ slot }) => slot),
      [3]
    )
    assert.deepStrictEqual(
      seen.gaps.map(({ reason }) => reason),
      ["source_gap"]
    )
  }).pipe(Effect.provide(feedOver(undefined, tape)))
})

layer(feedOver())("TrackerFeed.layer between two turns of a block", (it) => {
  it.effect("does not apply the rest of the block when its timer fires", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      const deals = Array.from({ length: 6000 }, (_, n) => ({ wallet: walletOf(n % 9) }))
      const applying = yield* Effect.forkChild(tape.apply(blockOf(1, deals)), { startImmediately: true })
      yield* ownTurn
      yield* TestClock.adjust("1 second")
      assert.isUndefined(applying.pollUnsafe())
      yield* Fiber.join(applying)
    })
  )
})
