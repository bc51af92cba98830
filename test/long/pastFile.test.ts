import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Deferred, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { channel } from "node:diagnostics_channel"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { unpackBlock } from "../../src/chain/decoding/PackedTransactions.ts"
import type { TradeBlock } from "../../src/chain/decoding/TradeBlock.ts"
import { makePast } from "../../src/simulator/past/makePast.ts"
import { readPast, writePast } from "../../src/simulator/past/pastFile.ts"
import { makeReplay, unpackChain } from "../../src/simulator/past/recordedChain.ts"
import { recordedPast } from "../../src/simulator/past/recordedPast.ts"
import { digestOf } from "../../src/simulator/chain/Bank.ts"
import { Simulator, simulatorConfig } from "../../src/simulator/Simulator.ts"
import { SimulatorThread } from "../../src/simulator/SimulatorThread.ts"
import { livePast } from "../../src/simulator/traders/past.ts"
import { makeSlots } from "../../src/simulator/traders/slots.ts"
import { chainStart, makeChain, makeEmptyBank, startOf } from "../../src/simulator/traders/startChain.ts"
import { at, call } from "../simulator/node/client.ts"

const settings = { seed: "recorded", hardships: true, history: 0.5, retailWallets: 20, swapsPerSecond: 0.5 }
const short = { ...settings, history: 0.05 }
const BUILT_MS = startOf(1_790_000_001_234)
/** Some days later, at another second of the minute. */
const STARTED_MS = startOf(BUILT_MS + 300_000_000 + 17_777)

const spelled = ({ transactions, ...head }: TradeBlock) => ({
  ...head,
  transactions: Array.from(transactions, ({ changes, index, legs, moves, nets, signature, transfers, unresolved }) => ({
    changes,
    index,
    legs,
    moves,
    nets,
    signature,
    transfers,
    unresolved
  }))
})

const settingsOf = (env: Record<string, string>) => ConfigProvider.layer(ConfigProvider.fromEnv({ env }))

const placeOf = ({ height, slot }: { height: number; slot: number }) => ({ height, slot })

describe("a recorded past", () => {
  it("is, block for block, the past that a chain of its seed makes at another time", () => {
    const own = makePast(settings, STARTED_MS, 50)
    const moved = recordedPast(makePast(settings, BUILT_MS, 50), own.live)
    const [first] = own.blocks
    const slots = own.blocks.map(({ head }) => head.slot)
    assert.isAbove(slots.length, 300)
    assert.deepStrictEqual(moved.list(0, 10_000), slots)
    assert.deepStrictEqual([moved.first, moved.last], [slots[0], slots.at(-1)])
    for (const block of own.blocks) {
      const expected = spelled(unpackBlock(block))
      // The first block names itself as its parent, so that a reader does not look for an earlier one.
      const parentSlot = block === first ? block.head.slot : block.head.parentSlot
      assert.deepStrictEqual(Option.map(moved.read(block.head.slot), spelled), Option.some({ ...expected, parentSlot }))
    }
    assert.deepStrictEqual(moved.read((slots[1] ?? 0) + 1), Option.none())
    assert.deepStrictEqual(moved.list((slots[2] ?? 0) - 1, 2), slots.slice(2, 4))
  })

  it("goes on, account for account, like the chain of its seed that made it at another time", () => {
    const ahead = 700
    const recorded = unpackChain(makePast(short, BUILT_MS, ahead).chain)
    const start = chainStart(short.history, STARTED_MS)
    const own = makeChain({ ...short, speed: 1 }, start)
    Array.from(livePast(own.bank, own.market, start.live.slot))
    const pass = makeSlots(
      short,
      () => own,
      () => undefined
    )
    const replay = makeReplay(recorded, makeEmptyBank({ ...short, speed: 1 }, start), start.live)
    assert.strictEqual(replay.bank.genesisHash, own.bank.genesisHash)
    assert.deepStrictEqual(placeOf(replay.bank.newest()), placeOf(own.bank.newest()))
    assert.strictEqual(digestOf(replay.bank), digestOf(own.bank))
    const slots = Array.from({ length: ahead }, () => {
      const [theirs, ours] = [replay.pass(), pass()]
      assert.deepStrictEqual(theirs && placeOf(theirs), ours && placeOf(ours))
      return ours
    })
    assert.isTrue(slots.some((block) => block === null))
    assert.deepStrictEqual([replay.passed(), replay.left()], [ahead, 0])
    assert.strictEqual(digestOf(replay.bank), digestOf(own.bank))
  })

  it.effect.each([
    { ahead: 40, recordedFor: "longer" },
    { ahead: 1, recordedFor: "shorter" }
  ])(
    "has live slots from the start, and the chain goes on with them when it is recorded for $recordedFor than its past takes",
    ({ ahead }) =>
      Effect.gen(function* () {
        yield* TestClock.setTime(STARTED_MS)
        const recorded = unpackChain(makePast(short, BUILT_MS, ahead).chain)
        const own = yield* Simulator
        return yield* Effect.gen(function* () {
          const chain = yield* Simulator
          const same = Effect.gen(function* () {
            assert.strictEqual(yield* chain.digest, yield* own.digest)
          })
          yield* same
          yield* TestClock.adjust("400 millis")
          yield* own.advance(1)
          yield* same
          // The past is made from the second second on, when no client has asked for accounts.
          yield* TestClock.adjust("400 millis")
          yield* own.faults.set({ halted: ahead === 1 })
          yield* own.advance(1)
          yield* own.faults.set({ halted: false })
          yield* ahead === 1 ? Effect.void : same
          yield* TestClock.adjust("20 seconds")
          yield* own.advance(50)
          yield* same
        }).pipe(Effect.provide(Simulator.layer({ ...short, recorded })))
      }).pipe(Effect.provide(Simulator.layer({ ...short, speed: 0, startUnixMs: STARTED_MS })))
  )

  it.effect.each([
    { when: "once the service has read its past", isRead: true, seconds: 1 },
    { when: "after a minute while the service still reads its past", isRead: false, seconds: 12 }
  ])("leaves the processor to the service at first: the chain makes its own past $when", ({ isRead, seconds }) =>
    Effect.gen(function* () {
      yield* TestClock.setTime(STARTED_MS)
      const recorded = unpackChain(makePast(settings, BUILT_MS, 5).chain)
      const reading = yield* Deferred.make<void>()
      const pastRead = Deferred.await(reading)
      yield* Effect.gen(function* () {
        const chain = yield* Simulator
        const begun = chain.mints().length
        yield* TestClock.adjust("50 seconds")
        assert.lengthOf(chain.mints(), begun)
        yield* isRead ? Deferred.succeed(reading, undefined) : Effect.void
        yield* TestClock.adjust(seconds * 1000)
        // Coins are launched in the past.
        assert.isAbove(chain.mints().length, begun)
      }).pipe(Effect.provide(Simulator.layer({ ...settings, recorded, pastRead })))
    })
  )

  it.live("lets the thread of the chain make its own past as soon as the process says that its market is read", () =>
    Effect.gen(function* () {
      const chain = { SIMULATOR_SEED: "thread", SIMULATOR_HISTORY: "0.01", SIMULATOR_SWAPS_PER_SECOND: "0.5" }
      const options = yield* simulatorConfig.pipe(Effect.provide(settingsOf(chain)))
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "fathom-past-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true }))
      )
      const file = join(folder, "past.bin")
      writeFileSync(file, writePast(makePast(options, BUILT_MS, 600)))
      const thread = SimulatorThread.layerConfig.pipe(Layer.provide(settingsOf({ ...chain, SIMULATOR_PAST: file })))
      yield* Effect.gen(function* () {
        const { live, past, rpcUrl } = yield* SimulatorThread
        assert.isNotNull(past)
        // Recorded blocks have no transactions: the last block of the past has some once the chain itself is there.
        const transactions = Effect.map(
          call(rpcUrl, "getBlock", live.slot - 1, { transactionDetails: "signatures", rewards: false }),
          (answer) => at(answer, "result", "signatures")
        )
        assert.deepStrictEqual(yield* transactions, [])
        channel("fathom.market").publish({ isReading: true })
        channel("fathom.market").publish({ isReading: false })
        yield* Effect.repeat(Effect.delay(transactions, "100 millis"), {
          until: (list) => Array.isArray(list) && list.length > 0
        })
        const slot = Number(at(yield* call(rpcUrl, "getSlot"), "result"))
        // Without being told, the chain begins after a minute.
        assert.isBelow(slot - live.slot, 150)
      }).pipe(Effect.provide(thread))
    }).pipe(Effect.scoped)
  )

  it.effect("is read back from its file only by a chain with the same settings", () =>
    Effect.gen(function* () {
      const past = makePast(short, BUILT_MS, 5)
      const bytes = Buffer.from(writePast(past))
      const read = yield* Effect.promise(() => readPast(bytes, past.settings))
      assert.deepStrictEqual(read, past)
      assert.isNull(yield* Effect.promise(() => readPast(bytes, { ...past.settings, seed: "other" })))
      const failureOf = (other: Buffer) =>
        Effect.flip(Effect.tryPromise({ try: () => readPast(other, past.settings), catch: String }))
      assert.include(yield* failureOf(bytes.subarray(0, -100)), "not whole")
      const before = bytes.toString("latin1").replace('"format":2', '"format":1')
      assert.include(
        yield* failureOf(Buffer.from(before, "latin1")),
        "its format is 1, and this version reads format 2"
      )
      const first = Buffer.concat([Buffer.from(JSON.stringify(past.settings)), bytes.subarray(bytes.indexOf("\n"))])
      assert.include(yield* failureOf(first), "its format is unknown")
    })
  )
})
