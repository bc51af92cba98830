import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { gzipSync, zstdCompressSync } from "node:zlib"
import { fileBlocks, recordedGenesis } from "../../../src/chain/importing/fileBlocks.ts"
import { type ImportRange, ImportRefused, type SourceBlock } from "../../../src/chain/importing/importSource.ts"
import { MIB, MOST_BYTES } from "../../../src/chain/importing/LineSplitter.ts"
import { encodeEntry, FORMAT } from "../../../src/chain/recording/recordEntry.ts"
import { pathOfFile } from "../../../src/chain/recording/recordFiles.ts"
import { makeProtoBlocks } from "../../../src/chain/importing/protoBlocks.ts"
import { packBlock } from "../../../src/chain/decoding/PackedTransactions.ts"
import { makeBank } from "../../../src/simulator/chain/Bank.ts"
import { makeMarket } from "../../../src/simulator/traders/Market.ts"
import { headOf, infoOf, protoOf } from "./protoFile.ts"

const everything: ImportRange = { fromSlot: null, toSlot: null, fromMs: null, toMs: null }

const folderOf = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "fathom-import-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

const blockOf = (slot: number) => ({ parentSlot: slot - 1, blockTime: slot, blockhash: `b${slot}`, transactions: [] })
const lineOf = (slot: number) => JSON.stringify({ slot, block: blockOf(slot) })

const entryOf = (slot: number) => {
  const json = zstdCompressSync(JSON.stringify(blockOf(slot)))
  const block = { slot, parentSlot: slot - 1, blockTimeMs: 5, blockTimeEstimated: true, heardAtMs: 1, json }
  return encodeEntry({ _tag: "Block", block })
}

const slotsOf = (path: string, range = everything) =>
  Effect.map(Stream.runCollect(fileBlocks(path, range)), (blocks) => Array.from(blocks, ({ slot }) => slot))

/** A block in Protobuf without transactions. */
const bareOf = (slot: number, executed = 0) =>
  headOf({ slot, parentSlot: slot - 1, blockTime: slot, blockhash: "b", parentBlockhash: "a", executed }, 0)

/** A decoded block as the bytes that a thread sends. */
const decoded = ({ decode }: SourceBlock): ReadonlyArray<string> => {
  const block = decode?.()
  return block === undefined ? [] : packBlock(block).transfer.map((bytes) => Buffer.from(bytes).toString("base64"))
}

/** Writes a file that is far larger than a block may be, without taking that much of the disk. */
const sparse = (file: string) => {
  writeFileSync(file, "")
  truncateSync(file, 64 * MOST_BYTES)
}

describe("fileBlocks", () => {
  it.effect("reads lines of JSON, plain or compressed, with and without an inner block", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      const text = `${lineOf(7)}\n\n${JSON.stringify({ slot: 9, ...blockOf(9) })}\n${lineOf(12)}`
      const forms = {
        "a.ndjson": Buffer.from(text),
        "a.jsonl.gz": gzipSync(text),
        "a.ndjson.zst": zstdCompressSync(text)
      }
      for (const [name, bytes] of Object.entries(forms)) {
        writeFileSync(join(folder, name), bytes)
        assert.deepStrictEqual(yield* slotsOf(join(folder, name)), [7, 9, 12])
      }
    })
  )

  it.effect("refuses a block or a recording whose file is too large, and reads no more than the bound", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      sparse(join(folder, "7.json"))
      assert.match((yield* Effect.flip(slotsOf(join(folder, "7.json")))).detail, /7\.json has more than 32 MiB/u)
      mkdirSync(join(folder, "recording"))
      const recorded = pathOfFile(join(folder, "recording"), 1000, 5)
      sparse(recorded)
      const blocks = Effect.asVoid(slotsOf(join(folder, "recording")))
      for (const read of [blocks, Effect.asVoid(recordedGenesis(join(folder, "recording")))]) {
        const { detail } = yield* Effect.flip(read)
        assert.strictEqual(detail, `${basename(recorded)} has more than 32 MiB`)
      }
    })
  )

  it.effect("refuses a small file that unpacks to more than a block may have", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      const zeros = Buffer.alloc(MOST_BYTES + 1)
      for (const [name, bytes] of [
        ["7.json.gz", gzipSync(zeros)],
        ["8.json.zst", zstdCompressSync(zeros)]
      ] as const) {
        writeFileSync(join(folder, name), bytes)
        const { detail } = yield* Effect.flip(slotsOf(join(folder, name)))
        assert.strictEqual(detail, `${name} has more than 32 MiB in it`)
      }
      writeFileSync(join(folder, "a.ndjson.gz"), gzipSync(zeros))
      const { detail } = yield* Effect.flip(slotsOf(join(folder, "a.ndjson.gz")))
      assert.strictEqual(detail, "a.ndjson.gz has a line of more than 32 MiB")
    })
  )

  it.effect("names the file that is cut off", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      const text = `${lineOf(7)}\n${lineOf(8)}`
      for (const [name, bytes] of [
        ["a.ndjson.gz", gzipSync(text)],
        ["a.ndjson.zst", zstdCompressSync(text)],
        ["7.json.gz", gzipSync(JSON.stringify(blockOf(7)))],
        ["7.json.zst", zstdCompressSync(JSON.stringify(blockOf(7)))]
      ] as const) {
        writeFileSync(join(folder, name), bytes.subarray(0, -6))
        const { detail } = yield* Effect.flip(slotsOf(join(folder, name)))
        assert.include(detail, `${name} is `)
      }
    })
  )

  it.effect("reads blocks in Protobuf, plain or compressed, and says what is wrong with their file", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      const bytes = Buffer.concat([7, 9, 12].map((slot) => bareOf(slot)))
      const forms = { "a.pb": bytes, "b.pb.gz": gzipSync(bytes), "c.pb.zst": zstdCompressSync(bytes) }
      for (const [name, packed] of Object.entries(forms)) {
        writeFileSync(join(folder, name), packed)
        assert.deepStrictEqual(yield* slotsOf(join(folder, name)), [7, 9, 12])
      }
      const oversized = Buffer.of(0x81, 0x80, 0x80, 0x10)
      for (const [wrong, detail] of [
        [bytes.subarray(0, -1), /wrong\.pb is cut off, or has no blocks/u],
        [Buffer.alloc(0), /wrong\.pb is cut off, or has no blocks/u],
        [Buffer.concat([bytes, bareOf(12)]), /block 4 of wrong\.pb: slot 12 comes after slot 12/u],
        [Buffer.of(2, 0x32, 5), /block 1 of wrong\.pb cannot be read: the message of 2 bytes is cut off/u],
        // A whole `SubscribeUpdate` has its block in another field.
        [Buffer.of(4, 0x2a, 2, 0x08, 7), /block 1 of wrong\.pb has no slot/u],
        [Buffer.of(8, 0x08, 5, 0x32, 0, 0x32, 0, 0x48, 1), /has 2 transactions, but its slot 5 has executed 1/u],
        [bareOf(5, 3), /has 0 transactions, but its slot 5 has executed 3/u],
        [Buffer.concat([bytes, oversized]), /wrong\.pb .* has a part of more than 32 MiB/u]
      ] as const) {
        writeFileSync(join(folder, "wrong.pb"), wrong)
        assert.match((yield* Effect.flip(slotsOf(join(folder, "wrong.pb")))).detail, detail)
      }
    })
  )

  it.effect("decodes blocks of megabytes of Protobuf as each of them alone, whatever pieces they come in", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      const bank = makeBank({ seed: "protobuf", startSlot: 1, startUnixMs: 1_790_000_000_000 })
      const market = makeMarket({ seed: "protobuf", bank, swapsPerSecond: 2000 })
      const messages = Array.from({ length: 3 }, () => {
        const { slot, transactions } = market.advance()
        const answer = { parentSlot: slot - 1, blockTime: slot, blockhash: "b", previousBlockhash: "a" }
        return protoOf(answer, slot, transactions.map(infoOf))
      })
      const whole = Buffer.concat(messages)
      assert.isAbove(Math.max(...messages.map(({ length }) => length)), MIB)
      const alone = messages.flatMap((message) =>
        makeProtoBlocks("one", () => true)
          .add(message)
          .map(decoded)
      )
      assert.lengthOf(alone, messages.length)
      for (const [name, bytes] of [
        ["a.pb", whole],
        ["b.pb.zst", zstdCompressSync(whole)],
        ["c.pb.gz", gzipSync(whole)]
      ] as const) {
        writeFileSync(join(folder, name), bytes)
        const found = Stream.map(fileBlocks(join(folder, name), everything), decoded)
        assert.deepStrictEqual(Array.from(yield* Stream.runCollect(found)), alone)
      }
      // A block whose memory was used again is never decoded as another one.
      const late = yield* Stream.runCollect(fileBlocks(join(folder, "a.pb"), everything))
      assert.throws(() => late[0]?.decode?.(), /is decoded too late/u)
    })
  )

  it.effect("refuses a block in Protobuf with two transactions at one position", () =>
    Effect.gen(function* () {
      const path = join(yield* folderOf, "twice.pb")
      writeFileSync(path, Buffer.of(8, 0x08, 5, 0x32, 0, 0x32, 0, 0x48, 2))
      const [block] = yield* Stream.runCollect(fileBlocks(path, everything))
      assert.throws(() => block?.decode?.(), ImportRefused)
    })
  )

  it.effect("refuses what is neither a folder nor a file, instead of waiting for it", () =>
    Effect.gen(function* () {
      assert.match((yield* Effect.flip(slotsOf("/dev/zero"))).detail, /neither a folder nor a file/u)
    })
  )

  it.effect("refuses a recording that cannot be read when its chain is asked for", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      mkdirSync(pathOfFile(folder, 1000, 5))
      assert.instanceOf(yield* Effect.flip(recordedGenesis(folder)), ImportRefused)
      assert.instanceOf(yield* Effect.flip(recordedGenesis(join(folder, "absent"))), ImportRefused)
      writeFileSync(join(folder, "a.ndjson"), lineOf(1))
      assert.isNull(yield* recordedGenesis(join(folder, "a.ndjson")))
    })
  )

  it.effect("reads a folder of blocks in the order of their slots, whatever their names sort like", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      for (const slot of [9, 10, 100]) {
        writeFileSync(join(folder, `${slot}.json.gz`), gzipSync(JSON.stringify({ result: blockOf(slot) })))
      }
      assert.deepStrictEqual(yield* slotsOf(folder), [9, 10, 100])
      assert.deepStrictEqual(yield* slotsOf(folder, { ...everything, fromSlot: 10 }), [10, 100])
    })
  )

  it.effect("gives each thread its share of lines, files and recorded blocks", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      const slots = [5, 6, 7, 8, 9]
      const places = ["lines", "files", "recording"].map((name) => join(folder, name))
      const [lines = "", ones = "", recording = ""] = places
      places.forEach((place) => mkdirSync(place))
      writeFileSync(join(lines, "a.ndjson"), `${lineOf(5)}\n\n${lineOf(6)}\n${lineOf(7)}\n`)
      writeFileSync(join(lines, "b.ndjson"), `${lineOf(8)}\n${lineOf(9)}`)
      slots.forEach((slot) => writeFileSync(join(ones, `${slot}.json`), JSON.stringify(blockOf(slot))))
      const header = encodeEntry({ _tag: "Header", header: { format: FORMAT, genesis: "g", run: "a", part: 0 } })
      writeFileSync(pathOfFile(recording, 1000, 5), Buffer.concat([header, ...slots.map(entryOf)]))
      for (const place of places) {
        const shareOf = (part: number) =>
          Effect.map(Stream.runCollect(fileBlocks(place, everything, { part, parts: 2 })), (blocks) =>
            Array.from(blocks, ({ slot }) => slot)
          )
        assert.deepStrictEqual(
          [yield* shareOf(0), yield* shareOf(1)],
          [
            [5, 7, 9],
            [6, 8]
          ]
        )
      }
    })
  )

  it.effect("reads the blocks of a recording once, up to where its last file is cut off", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      const header = { format: FORMAT, genesis: "g", run: "a", part: 0 }
      const file = (...slots: ReadonlyArray<number>) =>
        Buffer.concat([encodeEntry({ _tag: "Header", header }), ...slots.map(entryOf)])
      writeFileSync(pathOfFile(folder, 1000, 5), file(5, 6, 7))
      writeFileSync(pathOfFile(folder, 2000, 8), file(7, 8, 9).subarray(0, -3))
      assert.deepStrictEqual(yield* slotsOf(folder), [5, 6, 7, 8])
      assert.strictEqual(yield* recordedGenesis(folder), "g")
      const [first] = yield* Stream.runCollect(fileBlocks(folder, everything))
      assert.deepStrictEqual(first?.time, { ms: 5, isEstimated: true })
    })
  )

  it.effect("names the line that is no block, comes out of order or is not JSON", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      const path = join(folder, "a.ndjson")
      for (const [text, said] of [
        [`${lineOf(7)}\n{"slot":8,"block":{}}`, "line 2"],
        [`${lineOf(7)}\nnot json`, "line 2"],
        [`${lineOf(7)}\n${lineOf(7)}`, "slot 7 comes after slot 7"]
      ] as const) {
        writeFileSync(path, text)
        const refusal = yield* Effect.flip(slotsOf(path))
        assert.instanceOf(refusal, ImportRefused)
        assert.include(refusal.message, said)
      }
    })
  )

  it.effect("refuses a folder without blocks, and one with blocks in two forms", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf
      mkdirSync(join(folder, "empty"))
      assert.instanceOf(yield* Effect.flip(slotsOf(join(folder, "empty"))), ImportRefused)
      writeFileSync(join(folder, "1.json"), JSON.stringify(blockOf(1)))
      writeFileSync(join(folder, "a.ndjson"), lineOf(1))
      assert.include((yield* Effect.flip(slotsOf(folder))).message, "more than one form")
      assert.instanceOf(yield* Effect.flip(slotsOf(join(folder, "absent"))), ImportRefused)
    })
  )
})
