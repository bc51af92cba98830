import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { addressToBytes, type Mint } from "../../../src/domain/Address.ts"
import { NOT_INDEXED } from "../../../src/quotes/pools/PoolIndex.ts"
import { PoolEntries } from "../../../src/quotes/pools/PoolEntries.ts"
import { PoolIndexStore } from "../../../src/quotes/pools/PoolIndexStore.ts"
import * as PoolIndexStorePg from "../../../src/quotes/pools/PoolIndexStorePg.ts"
import { at } from "../toyChain.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { entriesOf, programId } from "./indexScene.ts"

const OTHER_PROGRAM = at(202)
const listings = new Map([
  [programId, "a"],
  [OTHER_PROGRAM, "b"]
])
const [TOKEN, TOKEN_2] = [at(10), at(11)]

const open = (address: TestDatabase.TestAddress) =>
  Effect.map(Layer.build(PoolIndexStorePg.layer.pipe(Layer.provide(TestDatabase.connect(address)))), (context) =>
    Context.get(context, PoolIndexStore)
  )
/** A store, and a writer that has opened it. */
const fresh = Effect.gen(function* () {
  const store = yield* Effect.flatMap(TestDatabase.create, open)
  const writer = yield* store.claim
  yield* writer.open("chain", listings)
  return { store, writer }
})

const addressesOf = (store: PoolIndexStore["Service"], mint: Mint, through = 0) =>
  Effect.map(store.poolsOf(mint, { through, most: 100 }), ({ pools }) => pools.map(({ address }) => address).toSorted())

describe.runIf(TestDatabase.isAvailable)("the index of pools in a database", () => {
  it.live("answers for a program once its snapshot is stored, in every process", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const [here, there] = [yield* open(address), yield* open(address)]
      const writer = yield* here.claim
      yield* writer.open("chain", listings)
      assert.deepStrictEqual(yield* there.poolsOf(TOKEN, { through: 0, most: 100 }), NOT_INDEXED)
      yield* writer.add(entriesOf([TOKEN, at(20)]), { slot: 5, through: 5 })
      assert.deepStrictEqual(yield* there.poolsOf(TOKEN, { through: 0, most: 100 }), NOT_INDEXED)
      const entries = yield* writer.replace(programId, entriesOf([TOKEN, at(21)], [TOKEN_2, at(21)]), 5)
      assert.strictEqual(entries, 3)
      assert.deepStrictEqual(yield* addressesOf(there, TOKEN), [at(20), at(21)].toSorted())
      const { pools, whole } = yield* there.poolsOf(at(99), { through: 0, most: 100 })
      assert.deepStrictEqual([pools, Array.from(whole)], [[], [programId]])
    }).pipe(Effect.scoped)
  )

  it.live("leaves out a program that is not stored up to the slot", () =>
    Effect.gen(function* () {
      const { store, writer } = yield* fresh
      yield* writer.replace(programId, entriesOf([TOKEN, at(20)]), 5)
      assert.deepStrictEqual(yield* store.poolsOf(TOKEN, { through: 6, most: 100 }), NOT_INDEXED)
      yield* writer.add(entriesOf(), { slot: 6, through: 6 })
      assert.deepStrictEqual(yield* addressesOf(store, TOKEN, 6), [at(20)])
      yield* writer.lose
      assert.deepStrictEqual(yield* store.poolsOf(TOKEN, { through: 6, most: 100 }), NOT_INDEXED)
    }).pipe(Effect.scoped)
  )

  it.live("keeps entries of an earlier snapshot that were seen since, and deletes the rest", () =>
    Effect.gen(function* () {
      const { store, writer } = yield* fresh
      yield* writer.replace(programId, entriesOf([TOKEN, at(20)], [TOKEN, at(21)]), 5)
      yield* writer.lose
      yield* writer.add(entriesOf([TOKEN, at(22)]), { slot: 11, through: 11 })
      yield* writer.replace(programId, entriesOf([TOKEN, at(21)]), 10)
      assert.deepStrictEqual(yield* addressesOf(store, TOKEN), [at(21), at(22)].toSorted())
    }).pipe(Effect.scoped)
  )

  it.live("counts the entries of each program as they come and go", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const writer = yield* (yield* open(address)).claim
      const counted = Effect.map(writer.open("chain", listings), (programs) =>
        [programId, OTHER_PROGRAM].map((program) => programs.get(program)?.entries)
      )
      assert.deepStrictEqual(yield* counted, [0, 0])
      const both = new PoolEntries([programId, OTHER_PROGRAM])
      both.add(0, addressToBytes(TOKEN), addressToBytes(at(20)))
      both.add(0, addressToBytes(TOKEN_2), addressToBytes(at(20)))
      both.add(1, addressToBytes(TOKEN), addressToBytes(at(21)))
      yield* writer.add(both, { slot: 5, through: 5 })
      assert.deepStrictEqual(yield* counted, [2, 1])
      // Known entries count once.
      yield* writer.add(both, { slot: 6, through: 6 })
      assert.deepStrictEqual(yield* counted, [2, 1])
      assert.strictEqual(yield* writer.replace(programId, entriesOf([TOKEN, at(20)], [TOKEN, at(23)]), 7), 2)
      assert.deepStrictEqual(yield* counted, [2, 1])
      yield* writer.add(entriesOf([TOKEN, at(24)]), { slot: 8, through: 8 })
      assert.deepStrictEqual(yield* counted, [3, 1])
    }).pipe(Effect.scoped)
  )

  it.live("stores many entries of one call, and a repeated entry once", () =>
    Effect.gen(function* () {
      const { store, writer } = yield* fresh
      const entries = new PoolEntries([programId])
      const pool = new Uint8Array(32).fill(3)
      for (let n = 0; n < 5000; n++) {
        new DataView(pool.buffer).setUint32(0, n)
        entries.add(0, addressToBytes(TOKEN), pool)
        entries.add(0, addressToBytes(TOKEN), pool)
      }
      assert.strictEqual(yield* writer.replace(programId, entries, 5), 5000)
      assert.strictEqual((yield* store.poolsOf(TOKEN, { through: 0, most: 5000 })).pools.length, 5000)
      assert.deepStrictEqual(yield* store.poolsOf(TOKEN, { through: 0, most: 4999 }), NOT_INDEXED)
    }).pipe(Effect.scoped)
  )

  it.live("keeps its state over a restart, unless the chain or the conditions of the pools have changed", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const before = yield* (yield* open(address)).claim
      yield* before.open("chain", listings)
      yield* before.replace(programId, entriesOf([TOKEN, at(20)]), 5)
      yield* before.add(entriesOf(), { slot: 9, through: 9 })
      const after = yield* (yield* open(address)).claim
      const state = { isWhole: true, through: 9, entries: 1 }
      assert.deepStrictEqual((yield* after.open("chain", listings)).get(programId), state)
      const changed = new Map([[programId, "another layout"]])
      assert.deepStrictEqual((yield* after.open("chain", changed)).get(programId), { ...state, isWhole: false })
      const foreign = yield* after.open("another chain", listings)
      assert.deepStrictEqual(foreign.get(programId), { isWhole: false, through: 0, entries: 0 })
    }).pipe(Effect.scoped)
  )

  it.live("accepts nothing from a writer after another one has claimed it", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const store = yield* open(address)
      const first = yield* store.claim
      yield* first.open("chain", listings)
      const second = yield* (yield* open(address)).claim
      const state = yield* second.open("chain", listings)
      yield* second.add(entriesOf([TOKEN, at(22)]), { slot: 50, through: 50 })
      const refused = [
        first.open("another chain", listings),
        first.lose,
        first.add(entriesOf([TOKEN, at(20)]), { slot: 60, through: 60 }),
        first.replace(programId, entriesOf([TOKEN, at(20)]), 5),
        first.replace(programId, entriesOf(), 5)
      ]
      for (const write of refused) {
        assert.strictEqual((yield* Effect.flip(write))._tag, "TermEnded")
      }
      assert.deepStrictEqual(yield* store.poolsOf(TOKEN, { through: 50, most: 100 }), NOT_INDEXED)
      assert.deepStrictEqual(state.get(programId), { isWhole: false, through: 0, entries: 0 })
      assert.strictEqual(yield* second.replace(programId, entriesOf([TOKEN, at(21)]), 50), 2)
      assert.deepStrictEqual(yield* addressesOf(store, TOKEN, 50), [at(21), at(22)].toSorted())
      assert.deepStrictEqual(yield* store.poolsOf(TOKEN, { through: 60, most: 100 }), NOT_INDEXED)
    }).pipe(Effect.scoped)
  )
})
