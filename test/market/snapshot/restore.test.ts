/** A process that begins with a snapshot has every figure of one that never stopped. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, type Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { TradeStoreUnavailable } from "../../../src/domain/market/Trade.ts"
import { TradeStore } from "../../../src/market/store/TradeStore.ts"
import { answersOf, FIRST, process, slots, timeOf } from "../repair/chain.ts"

const settings = { SNAPSHOT_EVERY: "1 minute", REPAIR_RATE: "100000" }
const STOPPED = FIRST + 60
const LAST = FIRST + 75

type Store = TradeStore["Service"]

const memory = Effect.map(Layer.build(Layer.fresh(TradeStore.layerMemory)), (context) =>
  Context.get(context, TradeStore)
)

/** The store with the number of trades that are read back and of parts of snapshots, and a switch that ends its writes. */
const watched = (store: Store) => {
  const seen = { parts: 0, trades: 0, isDead: false }
  const alive = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.suspend((): Effect.Effect<A, E | TradeStoreUnavailable> =>
      seen.isDead ? Effect.fail(new TradeStoreUnavailable({ cause: new Error("killed") })) : effect
    )
  const through = TradeStore.of({
    ...store,
    append: (batches) => alive(store.append(batches)),
    repair: (repair) => alive(store.repair(repair)),
    keepSnapshot: (content) => alive(store.keepSnapshot(content)),
    since: (request) =>
      Stream.tap(store.since(request), ({ trades }) => Effect.sync(() => (seen.trades += trades.length))),
    snapshotPart: (id, number) => {
      seen.parts++
      return store.snapshotPart(id, number)
    }
  })
  return { store: through, seen }
}

/** Reads the blocks of these slots without a stop. */
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

/** A process that reads to `STOPPED`: it ends in order, or is killed. */
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

/** A second process, and what it has read of the store by the time it is there. */
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

describe("a process that begins with a snapshot", () => {
  it.effect(
    "goes on as one that never stopped: after an orderly stop without another trade, after a kill from the last minute on",
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
          yield* second.read(slots(STOPPED + 1, LAST))
          equal(yield* answersOf(second.tape, store), atEnd)
          yield* second.end
        }
        // Both read the newest trades again; only those after the snapshot enter the windows.
        assert.isAtLeast(read.killed, read.orderly)
      })
  )

  it.effect("does not use one from before a repair, but one from after it", () =>
    Effect.gen(function* () {
      const expected = yield* undisturbed(memory, LAST)
      const store = yield* memory
      // Slots are missing when the process is killed, and are read again by the next.
      yield* firstLife(store, true, [...slots(FIRST, FIRST + 20), ...slots(FIRST + 25, STOPPED)])
      const second = yield* process(store, () => null, settings)
      yield* second.read(slots(STOPPED + 1, LAST))
      yield* Effect.repeat(TestClock.adjust("1 second"), { until: () => second.tape.gaps().length === 0, times: 1000 })
      equal(yield* answersOf(second.tape, store), expected)
      const kept = yield* store.snapshot
      assert.strictEqual(kept?.repairs, (yield* store.progress)?.repairs)
      assert.isAbove(kept?.repairs ?? 0, 0)
      yield* second.end
      const third = yield* secondLife(store)
      assert.isAbove(third.found.parts, 0)
      equal(yield* answersOf(third.tape, store), expected)
      yield* third.end
    })
  )

  it.effect(
    "rebuilds memory from trades where the snapshot is from before a repair, damaged, incomplete or of other limits",
    () =>
      Effect.gen(function* () {
        const expected = yield* undisturbed(memory, STOPPED)
        const store = yield* memory
        yield* firstLife(store, false)
        const record = yield* store.snapshot
        assert.isNotNull(record)
        const others: ReadonlyArray<readonly [isRead: boolean, Partial<Store>]> = [
          [false, { snapshot: Effect.succeed({ ...record, repairs: record.repairs + 1 }) }],
          [false, { snapshot: Effect.succeed({ ...record, slot: STOPPED + 1 }) }],
          [false, { snapshot: Effect.succeed({ ...record, layout: `${record.layout}0` }) }],
          [true, { snapshotPart: (id, number) => Effect.map(store.snapshotPart(id, number), flipped) }],
          [true, { snapshotPart: () => Effect.succeed(null) }],
          [
            true,
            { snapshotPart: () => Effect.fail(new TradeStoreUnavailable({ cause: new Error("unreadable page") })) }
          ],
          [true, { snapshotPart: () => Effect.die(new Error("defect")) }],
          [false, { snapshot: Effect.die(new Error("unreadable row")) }],
          [true, { snapshot: Effect.succeed({ ...record, size: record.size + 1 }) }]
        ]
        for (const [isRead, other] of others) {
          const given = TradeStore.of({ ...store, ...other })
          const { end, found, tape } = yield* secondLife(given, { SNAPSHOT_EVERY: "0 seconds" })
          assert.strictEqual(found.parts > 0, isRead)
          equal(yield* answersOf(tape, store), expected)
          yield* end
        }
      })
  )

  it.effect("uses it although a part comes late, and the newer one that replaces it while it is read", () =>
    Effect.gen(function* () {
      const expected = yield* undisturbed(memory, STOPPED)
      const store = yield* memory
      yield* firstLife(store, false)
      const record = (yield* store.snapshot) ?? assert.fail("there is no snapshot")
      const late = { isLate: true }
      const snapshots = [{ ...record, id: "replaced" }, record]
      const others: ReadonlyArray<Partial<Store>> = [
        {
          snapshotPart: (id, number) =>
            Effect.suspend(() => {
              const { isLate } = late
              late.isLate = false
              return isLate
                ? Effect.fail(new TradeStoreUnavailable({ cause: new Error("late") }))
                : store.snapshotPart(id, number)
            })
        },
        { snapshot: Effect.sync(() => (snapshots.length > 1 ? (snapshots.shift() ?? null) : record)) }
      ]
      for (const other of others) {
        // The first call is that of the start, and each restore from trades makes another.
        let launches = 0
        const launchesBefore: Store["launchesBefore"] = (second, most) => {
          // An empty one finds out whether the store answers.
          launches += second > 0 ? 1 : 0
          return store.launchesBefore(second, most)
        }
        const given = TradeStore.of({ ...store, ...other, launchesBefore })
        const { end, tape } = yield* secondLife(given, { SNAPSHOT_EVERY: "0 seconds" })
        assert.strictEqual(launches, 1)
        equal(yield* answersOf(tape, store), expected)
        yield* end
      }
    })
  )

  it.effect("waits for a part as long as the store does not answer at all, and uses the snapshot then", () =>
    Effect.gen(function* () {
      const expected = yield* undisturbed(memory, STOPPED)
      const store = yield* memory
      yield* firstLife(store, false)
      const seen = { isAway: false, trades: 0 }
      const unlessAway = <A, E>(ask: Effect.Effect<A, E>) =>
        Effect.suspend((): Effect.Effect<A, E | TradeStoreUnavailable> =>
          seen.isAway ? Effect.fail(new TradeStoreUnavailable({ cause: new Error("away") })) : ask
        )
      const given = TradeStore.of({
        ...store,
        launchesBefore: (second, most) => unlessAway(store.launchesBefore(second, most)),
        // The store is lost once the snapshot was found.
        snapshot: Effect.tap(store.snapshot, () => Effect.sync(() => (seen.isAway = true))),
        snapshotPart: (id, number) => unlessAway(store.snapshotPart(id, number)),
        since: (request) =>
          Stream.tap(store.since(request), ({ trades }) => Effect.sync(() => (seen.trades += trades.length)))
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

  it.effect("takes none above the bound", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(timeOf(FIRST))
      const store = yield* memory
      const { end, read } = yield* process(store, () => null, { ...settings, SNAPSHOT_BYTES: "1000" })
      yield* read(slots(FIRST, STOPPED))
      yield* end
      assert.isNull(yield* store.snapshot)
    })
  )
})
