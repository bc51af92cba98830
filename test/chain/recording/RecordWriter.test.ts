import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Address } from "../../../src/domain/Address.ts"
import type { OnChainAccount } from "../../../src/domain/OnChainAccount.ts"
import type { ChainEvent } from "../../../src/chain/ChainFeed.ts"
import {
  type ReadFile,
  readRecordFile,
  recordFilesOf,
  summarizeRecording
} from "../../../src/chain/recording/readRecording.ts"
import { encodeEntry, type Entry, FORMAT, type Moment } from "../../../src/chain/recording/recordEntry.ts"
import { fileDisk, type RecordDisk, RecordWriter } from "../../../src/chain/recording/RecordWriter.ts"
import { at, holding } from "../accounts/accounts.ts"

const MIB = 1024 * 1024
const HOUR_MS = 3_600_000

const folderOf = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "fathom-recording-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

const moment = (slot: number, heardAtMs = slot * 400): Moment => ({
  slot,
  heardAtMs,
  state: "live",
  epoch: 1,
  unixTimestamp: slot
})

const writes = (slot: number, ...accounts: ReadonlyArray<OnChainAccount>): ChainEvent => ({
  _tag: "Writes",
  slot,
  accounts: new Map(accounts.map((account) => [account.address, { ...account, slot }]))
})

const writerOf = (
  folder: string,
  {
    disk,
    run = "a",
    mostBytes = 1024 * MIB,
    keptMs = HOUR_MS
  }: {
    readonly disk?: RecordDisk
    readonly run?: string
    readonly mostBytes?: number
    readonly keptMs?: number
  } = {}
) => new RecordWriter({ folder, run, bounds: { mostBytes, keptMs }, ...(disk !== undefined && { disk }) })

const flush = (writer: RecordWriter, now: Moment) => Effect.promise(() => writer.flush(now))

const filesOf = Effect.fnUntraced(function* (folder: string) {
  const read = yield* Effect.forEach(yield* recordFilesOf(folder), (file) => readRecordFile(folder, file))
  return read.filter((file): file is ReadFile => file !== null)
})

const entriesOf = (folder: string) =>
  Effect.map(filesOf(folder), (all) => all.flatMap(({ entries }) => Array.from(entries)))

const accountsOf = (entry: Entry | undefined): ReadonlyArray<Address> =>
  entry?._tag === "Accounts"
    ? entry.events.flatMap(({ event }) =>
        Array.from((event._tag === "Writes" ? event : event.snapshot).accounts.keys())
      )
    : []

const [first, second] = [at(1), at(2)]

describe("the files of a recording", () => {
  it.effect("hold the writes of followed accounts as they arrived, and blocks as the node answered", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      const writer = writerOf(folder)
      writer.setGenesis("the chain")
      writer.watch([first])
      writer.take(writes(10, holding(first, [5])), moment(10))
      yield* flush(writer, moment(10))
      const own = writes(11, holding(first, [7]))
      writer.take(writes(11, holding(first, [7]), holding(second, [9])), moment(11))
      const block = { slot: 11, parentSlot: 10, blockTimeMs: 4000, blockTimeEstimated: false, heardAtMs: 4500 }
      writer.takeBlock({ ...block, json: Buffer.from("a block") })
      writer.takeGap({ from: 8, to: 9, reason: "behind", heardAtMs: 4500 })
      yield* flush(writer, moment(12))

      const [file] = yield* filesOf(folder)
      assert.deepStrictEqual(file?.header, { format: FORMAT, genesis: "the chain", run: "a", part: 0 })
      const [whole, empty, written, blocks, gap] = yield* entriesOf(folder)
      assert.deepStrictEqual([accountsOf(whole), accountsOf(empty)], [[first], []])
      assert.strictEqual(written?._tag === "Accounts" && written.end?.slot, 12)
      assert.deepStrictEqual(written?._tag === "Accounts" && written.events, [{ moment: moment(11), event: own }])
      assert.strictEqual(blocks?._tag === "Block" && Buffer.from(blocks.block.json).toString(), "a block")
      assert.strictEqual(gap?._tag === "Gap" && gap.gap.to, 9)
    })
  )

  it.effect("read up to the last whole entry when the end is cut off anywhere, or altered", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      const writer = writerOf(folder)
      writer.watch([first])
      for (const slot of [10, 11, 12]) {
        writer.take(writes(slot, holding(first, [slot])), moment(slot))
        yield* flush(writer, moment(slot))
      }
      const [{ path = "" } = {}] = yield* recordFilesOf(folder)
      const whole = readFileSync(path)
      const last = encodeEntry((yield* entriesOf(folder)).at(-1) ?? assert.fail("no entry"))
      for (const cut of [1, 7, last.length - 1]) {
        truncateSync(path, whole.length - cut)
        const { covered, torn } = yield* summarizeRecording(folder)
        assert.deepStrictEqual([covered, torn], [[{ from: 10, to: 11 }], 1])
        writeFileSync(path, whole)
      }
      writeFileSync(path, whole.with(whole.length - 1, (whole.at(-1) ?? 0) ^ 1))
      assert.deepStrictEqual((yield* summarizeRecording(folder)).covered, [{ from: 10, to: 11 }])
    })
  )

  it.effect("begin anew after a start, which leaves a hole in what is covered", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      const before = writerOf(folder)
      yield* flush(before, moment(10))
      yield* flush(before, moment(20))
      const after = writerOf(folder, { run: "b" })
      yield* flush(after, moment(30))
      yield* flush(after, { ...moment(35), state: "loading" })
      yield* flush(after, moment(40))
      yield* flush(after, moment(41))
      assert.deepStrictEqual((yield* summarizeRecording(folder)).covered, [
        { from: 10, to: 20 },
        { from: 30, to: 30 },
        { from: 40, to: 41 }
      ])
    })
  )

  it.effect("do not cover what a gap missed between two writes of the recording", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      const writer = writerOf(folder)
      writer.watch([first])
      yield* flush(writer, moment(10))
      writer.take(writes(11, holding(first, [11])), moment(11))
      yield* flush(writer, moment(12))
      writer.take(writes(19, holding(first, [19])), { ...moment(18), state: "reloading" })
      yield* flush(writer, moment(20))
      assert.deepStrictEqual((yield* summarizeRecording(folder)).covered, [
        { from: 10, to: 12 },
        { from: 20, to: 20 }
      ])
    })
  )

  it.effect("do not cover a gap at whose end a file begins", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      const writer = writerOf(folder, { keptMs: 100 * HOUR_MS })
      writer.watch([first])
      yield* flush(writer, moment(10, 1000))
      writer.take(writes(11, holding(first, [11])), moment(11, 1100))
      yield* flush(writer, moment(12, 1200))
      writer.take(writes(19, holding(first, [19])), { ...moment(18, HOUR_MS + 2000), state: "reloading" })
      yield* flush(writer, moment(20, HOUR_MS + 2000))
      assert.deepStrictEqual((yield* summarizeRecording(folder)).covered, [
        { from: 10, to: 12 },
        { from: 20, to: 20 }
      ])
    })
  )

  it.effect("stay within their bounds of bytes and age, the oldest going first", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      const mostBytes = MIB
      const writer = writerOf(folder, { mostBytes })
      const block = { parentSlot: 0, blockTimeMs: null, blockTimeEstimated: false, heardAtMs: 0 }
      for (let slot = 1; slot <= 100; slot++) {
        writer.takeBlock({ ...block, slot, json: new Uint8Array(40_000) })
        yield* flush(writer, moment(slot))
        const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
        assert.isAtMost(bytes, mostBytes)
      }
      const { firstBlock, lastBlock } = yield* summarizeRecording(folder)
      assert.isAbove(firstBlock ?? 0, 70)
      assert.strictEqual(lastBlock, 100)
      const later = Date.now() + 2 * HOUR_MS
      yield* flush(writer, moment(101, later))
      assert.strictEqual((yield* recordFilesOf(folder)).at(0)?.slot, 101)
    })
  )
})

describe("a disk that is full", () => {
  it.effect("costs what waited; the next file begins with the state of every followed account", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      const room = { isFull: false }
      const full: RecordDisk = {
        ...fileDisk,
        append: async (path, bytes) => {
          if (room.isFull) {
            // As a real one: some of the bytes still fit.
            appendFileSync(path, bytes.subarray(0, 20))
            throw new Error("ENOSPC: no space left on device")
          }
          await fileDisk.append(path, bytes)
        }
      }
      const writer = writerOf(folder, { disk: full })
      writer.watch([first, second])
      writer.take(writes(10, holding(first, [5])), moment(10))
      yield* flush(writer, moment(10))
      room.isFull = true
      for (const slot of [11, 12, 13]) {
        writer.take(writes(slot, holding(second, [slot])), moment(slot))
        const error = yield* Effect.flip(Effect.tryPromise(() => writer.flush(moment(slot))))
        assert.include(String(error.cause), "ENOSPC")
        assert.isTrue(writer.state().hasFailed)
      }
      assert.lengthOf(readdirSync(folder), 1)
      room.isFull = false
      yield* flush(writer, moment(14))
      assert.include(writer.state(), { hasFailed: false, failures: 3, slot: 14 })
      const [torn, next] = yield* filesOf(folder)
      assert.deepStrictEqual([torn?.isTorn, next?.isTorn], [true, false])
      const [whole] = Array.from(next?.entries ?? [])
      assert.sameMembers([...accountsOf(whole)], [first, second])
      assert.deepStrictEqual((yield* summarizeRecording(folder)).covered, [
        { from: 10, to: 10 },
        { from: 14, to: 14 }
      ])
    })
  )
})

const sizeOf = (folder: string) => readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)

const blockOf = (slot: number, bytes: number) => ({
  slot,
  parentSlot: slot - 1,
  blockTimeMs: null,
  blockTimeEstimated: false,
  heardAtMs: slot * 400,
  json: new Uint8Array(bytes)
})

it.effect("a disk with less room than the bound keeps the newest files", () =>
  Effect.gen(function* () {
    const folder = yield* folderOf
    const small: RecordDisk = {
      ...fileDisk,
      append: async (path, bytes) => {
        if (sizeOf(folder) + bytes.length > MIB / 2) {
          throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" })
        }
        await fileDisk.append(path, bytes)
      }
    }
    const writer = writerOf(folder, { disk: small, mostBytes: MIB })
    let failures = 0
    for (let slot = 1; slot <= 60; slot++) {
      writer.takeBlock(blockOf(slot, 40_000))
      failures += (yield* Effect.exit(Effect.tryPromise(() => writer.flush(moment(slot)))))._tag === "Failure" ? 1 : 0
    }
    assert.isAbove(failures, 0)
    assert.isBelow(failures, 5)
    assert.strictEqual((yield* summarizeRecording(folder)).lastBlock, 60)
  })
)

it.effect("a state that is larger than a file does not begin one at each write", () =>
  Effect.gen(function* () {
    const folder = yield* folderOf
    const writer = writerOf(folder, { mostBytes: 16 * MIB })
    writer.watch([first, second])
    writer.take(writes(1, { ...holding(first, []), data: randomBytes(3 * MIB) }), moment(1))
    for (let slot = 1; slot <= 5; slot++) {
      writer.take(writes(slot, holding(second, [slot])), moment(slot))
      yield* flush(writer, moment(slot))
    }
    assert.lengthOf(readdirSync(folder), 1)
  })
)

it.effect("what is lost while a file begins leaves a hole in what is covered", () =>
  Effect.gen(function* () {
    const folder = yield* folderOf
    const gate = Promise.withResolvers<void>()
    let appends = 0
    const slow: RecordDisk = {
      ...fileDisk,
      append: async (path, bytes) => {
        appends += 1
        await (appends === 2 ? gate.promise : undefined)
        await fileDisk.append(path, bytes)
      }
    }
    const writer = writerOf(folder, { disk: slow })
    writer.takeBlock(blockOf(1, 10))
    const begun = writer.flush(moment(1))
    yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve))).pipe(
      Effect.repeat({ until: () => appends === 2 })
    )
    writer.takeBlock(blockOf(2, 65 * MIB))
    gate.resolve()
    yield* Effect.promise(() => begun)
    yield* flush(writer, moment(3))
    assert.lengthOf(readdirSync(folder), 2)
    assert.lengthOf((yield* summarizeRecording(folder)).covered, 2)
  })
)

it.effect("an account that is no longer followed is neither recorded nor in the next state", () =>
  Effect.gen(function* () {
    const folder = yield* folderOf
    const writer = writerOf(folder)
    writer.watch([first, second])
    writer.take(writes(10, holding(first, [5]), holding(second, [6])), moment(10))
    yield* flush(writer, moment(10))
    writer.unwatch([first])
    writer.take(writes(11, holding(first, [7])), moment(11))
    yield* flush(writer, moment(11, HOUR_MS * 3))
    yield* flush(writer, moment(12, HOUR_MS * 3 + 1))
    const entries = yield* entriesOf(folder)
    assert.isTrue(entries.some((entry) => entry._tag === "Accounts" && entry.unwatched.includes(first)))
    const states = entries.filter((entry) => entry._tag === "Accounts" && entry.isWhole)
    assert.deepStrictEqual(accountsOf(states.at(-1)), [second])
  })
)
