import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Stream } from "effect"
import { appendFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { zstdCompressSync } from "node:zlib"
import type { BlockEvent } from "../../../src/chain/blocks/BlockFeed.ts"
import { type ChainEvent, ChainFeed } from "../../../src/chain/ChainFeed.ts"
import type { TradeBlock } from "../../../src/chain/decoding/TradeBlock.ts"
import { TradeBlocks } from "../../../src/chain/decoding/TradeBlocks.ts"
import * as Monitor from "../../../src/operations/SourceMonitor.ts"
import { recordFilesOf } from "../../../src/chain/recording/readRecording.ts"
import type { Moment } from "../../../src/chain/recording/recordEntry.ts"
import { RecordWriter } from "../../../src/chain/recording/RecordWriter.ts"
import * as Replay from "../../../src/chain/recording/Replay.ts"
import { at, holding, OWNER, readFeed, until } from "../accounts/accounts.ts"

const START_MS = 1_790_000_000_000
const SLOT_MS = 400

const folderOf = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "fathom-replay-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

const timeOf = (slot: number) => START_MS + slot * SLOT_MS

const moment = (slot: number, state: Moment["state"] = "live"): Moment => ({
  slot,
  heardAtMs: timeOf(slot),
  state,
  epoch: 3,
  unixTimestamp: Math.floor(timeOf(slot) / 1000)
})

const [first, second] = [at(1), at(2)]

const writes = (slot: number): ChainEvent => ({
  _tag: "Writes",
  slot,
  accounts: new Map([[first, holding(first, [slot], slot)]])
})

const json = (slot: number) =>
  zstdCompressSync(
    JSON.stringify({ parentSlot: slot - 1, blockTime: Math.floor(timeOf(slot) / 1000), transactions: [] })
  )

/** Slots 10 to `last`: the first account has the number of its slot, and a block is heard one slot late. */
const recorded = Effect.fnUntraced(function* (folder: string, last = 40, from = 10, run = "a") {
  const writer = new RecordWriter({ folder, run, bounds: { mostBytes: 1e9, keptMs: 1e9 } })
  writer.setGenesis("the chain")
  writer.watch([first, second])
  for (let slot = from; slot <= last; slot++) {
    writer.take(writes(slot), moment(slot))
    const block = { slot: slot - 1, parentSlot: slot - 2, blockTimeMs: timeOf(slot - 1), blockTimeEstimated: false }
    writer.takeBlock({ ...block, heardAtMs: timeOf(slot) + 100, json: json(slot - 1) })
    yield* Effect.promise(() => writer.flush({ ...moment(slot), heardAtMs: timeOf(slot) + 200 }))
  }
})

const refusalOf = (options: Replay.ReplayOptions) => Effect.map(Effect.flip(Replay.openReplay(options)), String)

const opened = { from: null, to: null, speed: null }

/** Everything that a replay sends to a reader of the first account and of blocks, with the time at which it came. */
const played = Effect.fnUntraced(function* (options: Replay.ReplayOptions, onceOpen: () => void = () => undefined) {
  const replay = yield* Replay.openReplay(options)
  onceOpen()
  return yield* Effect.gen(function* () {
    const feed = yield* ChainFeed
    const reader = yield* readFeed(feed)
    yield* feed.watch([first])
    yield* until("the first state", () => reader.known.has(first))
    const before = reader.bytes(first)
    const blocks: Array<readonly [number, BlockEvent<TradeBlock>]> = []
    const tradeBlocks = yield* TradeBlocks
    yield* tradeBlocks.follow(0).pipe(
      Stream.runForEach((event) => Effect.map(Clock.currentTimeMillis, (nowMs) => void blocks.push([nowMs, event]))),
      Effect.forkScoped
    )
    const last = options.to ?? 40
    yield* until("the last slot", () => feed.freshness().slot === last && reader.bytes(first)?.[0] === last)
    yield* until("its block", () => {
      const [, event] = blocks.at(-1) ?? []
      return event?._tag === "Block" && event.block.slot === (options.to ?? 39)
    })
    return {
      before,
      slots: reader.events.flatMap((event) => (event._tag === "Writes" ? event.slot : [])),
      blocks: blocks.flatMap(([, event]) => (event._tag === "Block" ? event.block.slot : [])),
      clock: feed.clock(),
      nowMs: yield* Clock.currentTimeMillis,
      state: feed.freshness().state,
      status: (yield* Monitor.SourceMonitor).stateOf("replay", 0)?.status,
      read: yield* feed.read([first, second]),
      found: yield* feed.accountsOf({ programId: OWNER, matches: [] })
    }
  }).pipe(
    Effect.provide(Replay.layer),
    Effect.provide(Monitor.layer),
    Effect.provideService(Replay.CurrentReplay, replay),
    Effect.provideService(Clock.Clock, replay.clock)
  )
})

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

describe("a replay", () => {
  it.live("has the recorded state, blocks and time of its slots, and the blocks before them as history", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      yield* recorded(folder)
      const { before, blocks, clock, found, nowMs, read, slots, state, status } = yield* played({
        ...opened,
        folder,
        from: 20,
        to: 30
      })
      assert.deepStrictEqual(before, [20])
      assert.deepStrictEqual(slots, range(21, 30))
      assert.deepStrictEqual(blocks, range(9, 30))
      assert.deepStrictEqual(clock, { slot: 30, epoch: 3, unixTimestamp: Math.floor(timeOf(30) / 1000) })
      // The block of slot 30 was heard at slot 31.
      assert.strictEqual(nowMs, timeOf(31) + 100)
      assert.deepStrictEqual([state, status], ["recorded", "known"])
      assert.deepStrictEqual(Array.from(read.accounts.get(first)?.data ?? []), [30])
      assert.isNull(read.accounts.get(second))
      assert.deepStrictEqual([...found.accounts.keys()], [first])
    })
  )

  it.live("has what was written before the first state of a later file", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      yield* recorded(folder, 24)
      const restarted = new RecordWriter({ folder, run: "b", bounds: { mostBytes: 1e9, keptMs: 1e9 } })
      restarted.setGenesis("the chain")
      restarted.watch([first, second])
      restarted.take(writes(25), moment(25))
      for (const slot of [25, 26]) {
        const block = { slot: slot - 1, parentSlot: slot - 2, blockTimeMs: timeOf(slot - 1), blockTimeEstimated: false }
        restarted.takeBlock({ ...block, heardAtMs: timeOf(slot) + 100, json: json(slot - 1) })
        yield* Effect.promise(() => restarted.flush({ ...moment(slot), heardAtMs: timeOf(slot) + 200 }))
      }
      const { read } = yield* played({ ...opened, folder, from: 20, to: 25 })
      assert.deepStrictEqual(Array.from(read.accounts.get(first)?.data ?? []), [25])
    })
  )

  it.live("leaves out a file that was removed meanwhile", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      yield* recorded(folder, 20)
      yield* recorded(folder, 30, 21, "b")
      yield* recorded(folder, 40, 31, "c")
      const [, middle] = (yield* recordFilesOf(folder)).toSorted((a, b) => a.slot - b.slot)
      const { slots, status } = yield* played({ ...opened, folder, from: 15, to: 35 }, () => rmSync(middle?.path ?? ""))
      assert.strictEqual(status, "partial")
      assert.deepStrictEqual(slots, [...range(16, 20), ...range(32, 35)])
    })
  )

  it.live("is the same each time", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      yield* recorded(folder)
      assert.deepStrictEqual(yield* played({ ...opened, folder }), yield* played({ ...opened, folder }))
    })
  )

  it.effect("begins 15 seconds after the recording when no slot is named, as soon as accounts were read", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      yield* recorded(folder, 60)
      assert.strictEqual((yield* Replay.openReplay({ ...opened, folder })).from, 48)
      assert.strictEqual((yield* Replay.openReplay({ ...opened, folder, to: 47 })).from, 10)
    })
  )

  it.live("takes as long as the recording, divided by its speed", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      yield* recorded(folder)
      const startedAt = yield* Clock.monotonicTimeNanos
      yield* played({ folder, from: 20, to: 30, speed: 10 })
      const tookMs = Number((yield* Clock.monotonicTimeNanos) - startedAt) / 1e6
      assert.isAtLeast(tookMs, (10 * SLOT_MS) / 10)
    })
  )

  it.live("reads the last file up to its last whole entry", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      yield* recorded(folder)
      const [{ path = "" } = {}] = yield* recordFilesOf(folder)
      appendFileSync(path, new Uint8Array([40, 0, 0, 0, 1, 2]))
      assert.strictEqual((yield* played({ ...opened, folder })).clock.slot, 40)
    })
  )

  it.effect("refuses slots that are not recorded, and names the ones that are", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      assert.include(yield* refusalOf({ ...opened, folder }), "holds no recording")
      yield* recorded(folder)
      const known = "It has 10 to 40"
      assert.include(yield* refusalOf({ ...opened, folder, from: 1 }), `does not have slot 1. ${known}`)
      assert.include(yield* refusalOf({ ...opened, folder, from: 41 }), `does not have slot 41. ${known}`)
      assert.include(yield* refusalOf({ ...opened, folder, to: 5 }), `does not have slot 5. ${known}`)
    })
  )
})
