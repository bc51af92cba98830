import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { zstdCompressSync } from "node:zlib"
import { decodeBlock } from "../../../src/chain/decoding/decodeBlock.ts"
import { isFields } from "../../../src/chain/decoding/jsonFields.ts"
import type { TradeBlock } from "../../../src/chain/decoding/TradeBlock.ts"
import { CarSplitter } from "../../../src/chain/importing/CarSplitter.ts"
import { fileBlocks } from "../../../src/chain/importing/fileBlocks.ts"
import { type ImportRange, ImportRefused, type SourceBlock } from "../../../src/chain/importing/importSource.ts"
import { MOST_BYTES } from "../../../src/chain/importing/LineSplitter.ts"
import { plain } from "../decoding/plainTransactions.ts"
import { carOf, header, outcomeOf, section, simulated } from "./carFile.ts"

const everything: ImportRange = { fromSlot: null, toSlot: null, fromMs: null, toMs: null }

const chain = simulated(12)
const blocks = chain.map(({ block }) => block)
const whole = carOf(blocks)

const folderOf = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "fathom-car-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

/** Everything of a block in plain objects. */
const plainly = (block: TradeBlock | null) =>
  block === null ? null : { ...block, transactions: plain(block.transactions) }

const decode = (block: SourceBlock): TradeBlock | null => block.decode?.() ?? null

/** The decoded blocks of a file. */
const read = Effect.fnUntraced(function* (bytes: Buffer, name = "epoch-0.car", share = { part: 0, parts: 1 }) {
  const path = join(yield* folderOf, name)
  writeFileSync(path, bytes)
  const found = Stream.mapEffect(fileBlocks(path, everything, share), (source) =>
    Effect.try({
      try: () => ({ source, block: plainly(decode(source)) }),
      catch: (error) => (error instanceof ImportRefused ? error : new ImportRefused({ detail: String(error) }))
    })
  )
  return Array.from(yield* Stream.runCollect(found))
})

const refusal = (bytes: Buffer, name?: string) =>
  Effect.scoped(Effect.map(Effect.flip(read(bytes, name)), ({ detail }) => detail))

const nodeOf = (cid: string, value: string) => section(Buffer.from(cid + value, "hex"))

const expected = chain.map(({ json, slot }) => plainly(decodeBlock(slot, json)))

describe("carBlocks", () => {
  it.effect("decodes to the same trades, transfers, launches and holdings as the blocks of a node", () =>
    Effect.gen(function* () {
      for (const bytes of [whole, carOf(blocks, { isIndexed: false }), carOf(blocks, { isPart: true })]) {
        const found = yield* read(bytes)
        assert.deepStrictEqual(
          found.map(({ block }) => block),
          expected
        )
        for (const [at, { source }] of found.entries()) {
          assert.strictEqual(isFields(source.answer) && source.answer["blockhash"], blocks[at]?.blockhash)
          // The file does not name the parent's hash of its first block.
          const before = at === 0 ? null : blocks[at - 1]?.blockhash
          assert.strictEqual(isFields(source.answer) && source.answer["previousBlockhash"], before)
        }
      }
      const legs = expected.flatMap((block) => block?.transactions.flatMap((each) => each.legs) ?? [])
      assert.isAbove(legs.length, 50)
      assert.isTrue(expected.every((block) => block?.malformed === 0))
    })
  )

  it.effect("puts data together that is continued over several frames", () =>
    Effect.gen(function* () {
      const found = yield* read(carOf(blocks, { frame: 100 }))
      assert.deepStrictEqual(
        found.map(({ block }) => block),
        expected
      )
    })
  )

  it.effect("counts transactions without an outcome as malformed, as for a node that has none", () =>
    Effect.gen(function* () {
      const without = chain.map(({ json, slot }) => ({
        slot,
        json: { ...json, transactions: json.transactions.map((each: object) => ({ ...each, meta: null })) }
      }))
      const found = yield* read(carOf(blocks, { metadata: () => Buffer.alloc(0) }))
      assert.deepStrictEqual(
        found.map(({ block }) => block),
        without.map(({ json, slot }) => plainly(decodeBlock(slot, json)))
      )
      assert.strictEqual(found[0]?.block?.malformed, blocks[0]?.transactions.length)
    })
  )

  it.effect("gives each thread its share, with the hash of the block before", () =>
    Effect.gen(function* () {
      const shares = [
        yield* read(whole, "a.car", { part: 0, parts: 2 }),
        yield* read(whole, "a.car", { part: 1, parts: 2 })
      ]
      const hashes = shares.map((share) =>
        share.map(({ source }) => isFields(source.answer) && source.answer["previousBlockhash"])
      )
      const all = [null, ...blocks.slice(0, -1).map(({ blockhash }) => blockhash)]
      assert.deepStrictEqual(hashes, [all.filter((_, at) => at % 2 === 0), all.filter((_, at) => at % 2 === 1)])
    })
  )

  it.effect("reads a folder of epochs in the order of their numbers", () =>
    Effect.gen(function* () {
      const folder = join(yield* folderOf, "epochs")
      mkdirSync(folder)
      writeFileSync(join(folder, "epoch-9.car"), carOf(blocks.slice(0, 4)))
      writeFileSync(join(folder, "epoch-10.car"), carOf(blocks.slice(4)))
      const found = yield* Stream.runCollect(fileBlocks(folder, everything))
      assert.deepStrictEqual(
        Array.from(found, ({ slot }) => slot),
        blocks.map(({ slot }) => slot)
      )
    })
  )

  it.effect("names a file that is cut off, within a section and after one", () =>
    Effect.gen(function* () {
      const few = carOf(blocks.slice(0, 2))
      const sections = new CarSplitter("a").add(few)
      const ends = [1, Math.floor(sections.length / 2), sections.length - 2].map((at) => {
        const section = sections[at] ?? Buffer.alloc(0)
        return few.indexOf(section) + section.length
      })
      for (const end of [0, ...ends, ...ends.map((at) => at - 5), few.length - 1]) {
        assert.strictEqual(yield* refusal(few.subarray(0, end)), "epoch-0.car is cut off, or has no blocks")
      }
    })
  )

  it.effect("names a file with a damaged byte in any node of a block", () =>
    Effect.gen(function* () {
      const few = carOf(blocks.slice(0, 2), { frame: 400 })
      // Without the header.
      const nodes = new CarSplitter("a").add(few).slice(1)
      const seen = new Set<number>()
      for (const [at, node] of nodes.entries()) {
        const kind = node[37] ?? 0
        if (![0, 1, 2, 6].includes(kind) || (seen.has(kind) && at % 5 > 0)) {
          continue
        }
        seen.add(kind)
        const last = few.indexOf(node) + node.length - 1
        const byte = few[last] ?? 0
        few[last] = byte ^ 0x10
        assert.include(yield* refusal(few), "epoch-0.car", `node ${at} of kind ${kind}`)
        few[last] = byte
      }
      assert.strictEqual(seen.size, 4)
    })
  )

  it.effect("refuses files that are not of Old Faithful", () =>
    Effect.gen(function* () {
      const root = Buffer.alloc(36, 1)
      const digest = "00".repeat(32)
      const foreign = [
        // A raw node, a node of dag-pb, and a map in DAG-CBOR.
        nodeOf(`01551220${digest}`, "68656c6c6f"),
        nodeOf(`01701220${digest}`, "0a00"),
        nodeOf(`01711220${digest}`, "a1616101")
      ]
      for (const bytes of foreign) {
        assert.strictEqual(
          yield* refusal(Buffer.concat([header(root), bytes])),
          "epoch-0.car is damaged, or is not a CAR file of Old Faithful"
        )
      }
      assert.include(yield* refusal(header(root, 2)), "epoch-0.car is not a CAR file of version 1")
      assert.match(
        yield* refusal(Buffer.from("not a CAR file, but text of some length ".repeat(9))),
        /^epoch-0\.car is /u
      )
    })
  )

  it.effect("refuses outcomes in the older form, and says where else the blocks are", () =>
    Effect.gen(function* () {
      const bincode = zstdCompressSync(Buffer.from("00000000881300000000000002000000", "hex"))
      assert.strictEqual(
        yield* refusal(carOf(blocks, { metadata: () => bincode })),
        `the block of slot ${blocks[0]?.slot} in epoch-0.car has outcomes in the older form (bincode), ` +
          "which is not read: import it from a node"
      )
      assert.match(yield* refusal(carOf(blocks, { metadata: outcomeOf })), /has an outcome that is not in Zstandard$/u)
    })
  )

  it.effect("refuses nodes, blocks and outcomes that are too large", () =>
    Effect.gen(function* () {
      const long = Buffer.of(0x81, 0x80, 0x80, 0x10)
      const start = whole.subarray(0, (whole[0] ?? 0) + 1)
      assert.match(yield* refusal(Buffer.concat([start, long, whole])), /has a part of more than 32 MiB$/u)
      const zeros = zstdCompressSync(Buffer.alloc(MOST_BYTES + 1, 8))
      assert.match(yield* refusal(carOf(blocks, { metadata: () => zeros })), /has more than 32 MiB in it$/u)
      const [one] = blocks
      if (one !== undefined) {
        const large = {
          ...one,
          transactions: Array.from({ length: 40 }, () => one.transactions[0]).filter((each) => each !== undefined)
        }
        const noise = carOf([large], { metadata: () => Buffer.alloc(900_000, 7) })
        assert.match(yield* refusal(noise), /has a block of more than 32 MiB, after slot -1$/u)
      }
    })
  )

  it.each([false, true])("splits sections whatever pieces they come in (memory used again: %s)", (isReused) => {
    const cut = (size: number) => {
      const splitter = new CarSplitter("a", { isReused })
      const found: Array<string> = []
      for (let at = 0; at < whole.length; at += size) {
        found.push(...splitter.add(whole.subarray(at, at + size)).map((bytes) => bytes.toString("hex")))
      }
      assert.isTrue(splitter.isWhole)
      return found
    }
    const all = cut(whole.length)
    for (const size of [1000, 4099, 65_536]) {
      assert.deepStrictEqual(cut(size), all)
    }
  })
})
