/** A process that starts from a snapshot has every figure of a process that never stopped. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { TradeStoreUnavailable } from "../../../src/api/schemas/Trade.ts"
import { answersOf, FIRST, process, slots, timeOf } from "./chain.ts"
import { type MarketStores } from "../../../src/market/model/MarketStores.ts"
import { memory, replaced } from "../../support/marketStores.ts"

const settings = { SNAPSHOT_EVERY: "1 minute", REPAIR_RATE: "100000" }
const STOPPED = FIRST + 60
const LAST = FIRST + 75

type Store = MarketStores

/** The store, with counts of the trades and snapshot parts that are read back, and a switch that stops its writes. */
const watched = (store: Store) => {
  const { blocks, snapshots } = store
  const seen = { parts: 0, trades: 0, isDead: false }
  const alive = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.suspend((): Effect.Effect<A, E | TradeStoreUnavailable> =>
      seen.isDead ? Effect.fail(new TradeStoreUnavailable({ cause: new Error("killed") })) : effect
    )
  const through = replaced(store, {
    blocks: {
      append: (batches) => alive(blocks.append(batches)),
      repair: (repair) => alive(blocks.repair(repair)),
      since: (request) =>
        Stream.tap(blocks.since(request), ({ trades }) => Effect.sync(() => (seen.trades += trades.length)))
    },
    snapshots: {
      keep: (content) => alive(snapshots.keep(content)),
      part: (id, number) => {
        seen.parts++
        return snapshots.part(id, number)
      }
    }
  })
  return { store: through, seen }
}

/** Reads the blocks of these slots in one go. */
const undisturbed = Effect.fnUntraced(function* (stores: Effect.Effect<Store, never, Scope.Scope>, to: number) {
  yield* TestClock.setTime(timeOf(FIRST))
  const store = yield* stores
  const { end, read, tape } = yield* process(store, () => null, { REPAIR_RATE: "100000" })
  yield* read(slots(FIRST, to))
  const expected = yield* answersOf(tape, store)
  yield* end
  yield* TestClock.setTime(timeOf(FIRST))
  return expected
})

/** A process that reads up to `STOPPED`, and then ends in order or is killed. */
const firstLife = Effect.fnUntraced(function* (
  store: Store,
  isKilled: boolean,
  given: ReadonlyArray<number> = slots(FIRST, STOPPED)
) {
  const { seen, store: through } = watched(store)
  const { end, read } = yield* process(through, () => null, settings)
  yield* read(given)
  seen.isDead = isKilled
  yield* end
})

/** A second process, and what it had read from the store when it was restored. */
const secondLife = Effect.fnUntraced(function* (store: Store, given: Record<string, string> = settings) {
  const { seen, store: through } = watched(store)
  const life = yield* process(through, () => null, given)
  yield* Effect.repeat(TestClock.adjust("100 millis"), { until: () => !life.tape.isRestoring(), times: 20_000 })
  return { ...life, found: { parts: seen.parts, trades: seen.trades } }
})

const flipped = (part: Uint8Array | null) => part?.map((byte, place) => (place === 900 ? byte ^ 1 : byte)) ?? null

type Answers = Effect.Success<ReturnType<typeof answersOf>>

const equal = (found: Answers, expected: Answers) => {
  for (const key of Object.keys(expected) as ReadonlyArray<keyof Answers>) {
    assert.deepStrictEqual(found[key], expected[key], key)
  }
}

describe("a process that starts from a snapshot", () => {
  it.effect(
    "equals one that never stopped: after an orderly stop it reads no trade again, after a kill only the last minute",
    () =>
      Effect.gen(function* () {
        const atStop = yield* undisturbed(memory, STOPPED)
        const atEnd = yield* undisturbed(memory, LAST)
        const read = { orderly: 0, killed: 0 }
        for (const kind of ["orderly", "killed"] as const) {
          yield* TestClock.setTime(timeOf(FIRST))
          const store = yield* memory
          yield* firstLife(store, kind === "killed")
          const second = yield* secondLife(store)
          assert.isAbove(second.found.parts, 0, kind)
          read[kind] = second.found.trades
          equal(yield* answersOf(second.tape, store), atStop)
          assert.isTrue(second.tape.reportsLaunches(), "launches of restored blocks count before a new block comes")
          yield* second.read(slots(STOPPED + 1, LAST))
          equal(yield* answersOf(second.tape, store), atEnd)
          yield* second.end
        }
        // Both read the newest trades again. Only trades after the snapshot enter the windows.
        assert.isAtLeast(read.killed, read.orderly)
      })
  )

  it.effect("ignores a snapshot from before a repair, and uses one from after it", () =>
    Effect.gen(function* () {
      const expected = yield* undisturbed(memory, LAST)
      const store = yield* memory
      // Slots are missing when the process is killed. The next process reads them again.
      yield* firstLife(store, true, [...slots(FIRST, FIRST + 20), ...slots(FIRST + 25, STOPPED)])
      const second = yield* process(store, () => null, settings)
      yield* second.read(slots(STOPPED + 1, LAST))
      const isRepaired = () => !second.tape.isRestoring() && second.tape.gaps().length === 0
      yield* Effect.repeat(TestClock.adjust("1 second"), { until: isRepaired, times: 1000 })
      equal(yield* answersOf(second.tape, store), expected)
      const kept = yield* store.snapshots.newest
      assert.strictEqual(kept?.repairs, (yield* store.blocks.progress)?.repairs)
      assert.isAbove(kept?.repairs ?? 0, 0)
      yield* second.end
      const third = yield* secondLife(store)
      assert.isAbove(third.found.parts, 0)
      equal(yield* answersOf(third.tape, store), expected)
      yield* third.end
    })
  )

  it.effect(
    "rebuilds memory from trades when the snapshot is older than a repair, damaged, incomplete or of other limits",
    () =>
      Effect.gen(function* () {
        const expected = yield* undisturbed(memory, STOPPED)
        const store = yield* memory
        yield* firstLife(store, false)
        const record = yield* store.snapshots.newest
        assert.isNotNull(record)
        const others: ReadonlyArray<readonly [isRead: boolean, Partial<Store["snapshots"]>]> = [
          [false, { newest: Effect.succeed({ ...record, repairs: record.repairs + 1 }) }],
          [false, { newest: Effect.succeed({ ...record, slot: STOPPED + 1 }) }],
          [false, { newest: Effect.succeed({ ...record, layout: `${record.layout}0` }) }],
          [true, { part: (id, number) => Effect.map(store.snapshots.part(id, number), flipped) }],
          [true, { part: () => Effect.succeed(null) }],
          [true, { part: () => Effect.fail(new TradeStoreUnavailable({ cause: new Error("unreadable page") })) }],
          [true, { part: () => Effect.die(new Error("defect")) }],
          [false, { newest: Effect.die(new Error("unreadable row")) }],
          [true, { newest: Effect.succeed({ ...record, size: record.size + 1 }) }]
        ]
        for (const [isRead, other] of others) {
          const given = replaced(store, { snapshots: other })
          const { end, found, tape } = yield* secondLife(given, { SNAPSHOT_EVERY: "0 seconds" })
          assert.strictEqual(found.parts > 0, isRead)
          equal(yield* answersOf(tape, store), expected)
          yield* end
        }
      })
  )

  it.effect("uses it although a part comes late, and uses the newer one that replaces it while it is read", () =>
    Effect.gen(function* () {
      const expected = yield* undisturbed(memory, STOPPED)
      const store = yield* memory
      yield* firstLife(store, false)
      const record = (yield* store.snapshots.newest) ?? assert.fail("there is no snapshot")
      const late = { isLate: true }
      const snapshots = [{ ...record, id: "replaced" }, record]
      const others: ReadonlyArray<Partial<Store["snapshots"]>> = [
        {
          part: (id, number) =>
            Effect.suspend(() => {
              const { isLate } = late
              late.isLate = false
              return isLate
                ? Effect.fail(new TradeStoreUnavailable({ cause: new Error("late") }))
                : store.snapshots.part(id, number)
            })
        },
        { newest: Effect.sync(() => (snapshots.length > 1 ? (snapshots.shift() ?? null) : record)) }
      ]
      for (const other of others) {
        // The start makes one call. Each restore from trades makes another.
        let launches = 0
        const launchesBefore: Store["blocks"]["launchesBefore"] = (second, most) => {
          // A call from second 0 finds out whether the store answers.
          launches += second > 0 ? 1 : 0
          return store.blocks.launchesBefore(second, most)
        }
        const given = replaced(store, { blocks: { launchesBefore }, snapshots: other })
        const { end, tape } = yield* secondLife(given, { SNAPSHOT_EVERY: "0 seconds" })
        assert.strictEqual(launches, 1)
        equal(yield* answersOf(tape, store), expected)
        yield* end
      }
    })
  )

  it.effect("waits for a part while the store does not answer at all, then uses the snapshot", () =>
    Effect.gen(function* () {
      const expected = yield* undisturbed(memory, STOPPED)
      const store = yield* memory
      yield* firstLife(store, false)
      const { blocks, snapshots } = store
      const seen = { isAway: false, trades: 0 }
      const unlessAway = <A, E>(ask: Effect.Effect<A, E>) =>
        Effect.suspend((): Effect.Effect<A, E | TradeStoreUnavailable> =>
          seen.isAway ? Effect.fail(new TradeStoreUnavailable({ cause: new Error("away") })) : ask
        )
      const given = replaced(store, {
        blocks: {
          launchesBefore: (second, most) => unlessAway(blocks.launchesBefore(second, most)),
          since: (request) =>
            Stream.tap(blocks.since(request), ({ trades }) => Effect.sync(() => (seen.trades += trades.length)))
        },
        snapshots: {
          // The store is lost right after the snapshot was found.
          newest: Effect.tap(snapshots.newest, () => Effect.sync(() => (seen.isAway = true))),
          part: (id, number) => unlessAway(snapshots.part(id, number))
        }
      })
      const { end, tape } = yield* process(given, () => null, { SNAPSHOT_EVERY: "0 seconds" })
      yield* Effect.repeat(TestClock.adjust("1 second"), { times: 60 })
      assert.isTrue(tape.isRestoring())
      assert.strictEqual(seen.trades, 0)
      seen.isAway = false
      yield* Effect.repeat(TestClock.adjust("100 millis"), { until: () => !tape.isRestoring(), times: 20_000 })
      equal(yield* answersOf(tape, store), expected)
      yield* end
    })
  )

  it.effect("takes no snapshot above the bound", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(timeOf(FIRST))
      const store = yield* memory
      const { end, read } = yield* process(store, () => null, { ...settings, SNAPSHOT_BYTES: "1000" })
      yield* read(slots(FIRST, STOPPED))
      yield* end
      assert.isNull(yield* store.snapshots.newest)
    })
  )
})
