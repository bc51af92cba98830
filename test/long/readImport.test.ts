/** Blocks come from a thread, whatever the source. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { zstdCompressSync } from "node:zlib"
import { ChainUnavailable } from "../../src/chain/ChainUnavailable.ts"
import { type ImportRange, ImportRefused } from "../../src/chain/importing/importSource.ts"
import { readImport } from "../../src/chain/importing/readImport.ts"
import { unpackBlock } from "../../src/chain/decoding/PackedTransactions.ts"
import { Simulator } from "../../src/simulator/Simulator.ts"
import { plain } from "../chain/decoding/plainTransactions.ts"
import { carOf, simulated } from "../chain/importing/carFile.ts"

const folderOf = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "fathom-import-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

/** What two threads reply for the blocks of a file, read. The same block may be packed in several ways. */
const imported = (path: string, range: ImportRange) =>
  Effect.map(Stream.runCollect(readImport({ place: { _tag: "file", path }, range }, 2)), (found) =>
    Array.from(found, ({ block, ...hashes }) => {
      const { transactions, ...head } = unpackBlock(block)
      return { ...hashes, head, transactions: plain(transactions) }
    })
  )

const everything: ImportRange = { fromSlot: null, toSlot: null, fromMs: null, toMs: null }

describe("readImport", () => {
  it.live(
    "reads a node's blocks of a range and the next one, and the same blocks of a file",
    () =>
      Effect.gen(function* () {
        const { advance, rpcUrl } = yield* Simulator
        yield* advance(24)
        const nodes = yield* Stream.runCollect(readImport({ place: { _tag: "rpc", url: rpcUrl }, range: everything }))
        const [first] = nodes
        const from = first?.block.head.slot ?? 0
        const range = { ...everything, fromSlot: from + 3, toSlot: from + 12 }
        const part = yield* Stream.runCollect(readImport({ place: { _tag: "rpc", url: rpcUrl }, range }))
        const slots = Array.from(part, ({ block }) => block.head.slot)
        assert.deepStrictEqual([slots[0], slots.at(-1)], [from + 3, from + 13])
        const folder = yield* folderOf
        for (const { block } of nodes) {
          const body = JSON.stringify({
            jsonrpc: "2.0",
            id: 1,
            method: "getBlock",
            params: [block.head.slot, { maxSupportedTransactionVersion: 0, rewards: false }]
          })
          const response = yield* Effect.promise(() =>
            fetch(rpcUrl, { method: "POST", headers: { "content-type": "application/json" }, body }).then((res) =>
              res.text()
            )
          )
          writeFileSync(join(folder, `${block.head.slot}.json`), response)
        }
        const place = { _tag: "file", path: folder } as const
        for (const threads of [1, 3]) {
          const files = yield* Stream.runCollect(readImport({ place, range: everything }, threads))
          assert.deepStrictEqual(Array.from(files), Array.from(nodes))
          assert.isAbove(files.length, 20)
        }
        const again = yield* Stream.runCollect(readImport({ place, range }, 3))
        assert.deepStrictEqual(Array.from(again), Array.from(part))
      }).pipe(Effect.scoped, Effect.provide(Simulator.layer({ seed: "thread", speed: 0, swapsPerSecond: 4 }))),
    120_000
  )

  it.live(
    "imports a file of Old Faithful as the same blocks in JSON, whole and from a slot on",
    () =>
      Effect.gen(function* () {
        const chain = simulated(12)
        const blocks = chain.map(({ block }) => block)
        const folder = yield* folderOf
        const [car, lines] = [join(folder, "epoch-0.car"), join(folder, "epoch.ndjson")]
        writeFileSync(car, carOf(blocks))
        writeFileSync(lines, chain.map(({ json, slot }) => JSON.stringify({ slot, block: json })).join("\n"))
        const rest = { ...everything, fromSlot: blocks[5]?.slot ?? 0, toSlot: blocks[8]?.slot ?? 0 }
        for (const [range, many] of [
          [everything, 12],
          [rest, 5]
        ] as const) {
          const [found, same] = [yield* imported(car, range), yield* imported(lines, range)]
          assert.lengthOf(found, many)
          // The file does not name the parent's hash of its first block.
          const first = range === everything ? { parentHash: null } : {}
          assert.deepStrictEqual(
            found,
            same.map((block, at) => (at === 0 ? { ...block, ...first } : block))
          )
        }
      }),
    240_000
  )

  it.live(
    "imports blocks in Protobuf as the same blocks in JSON, whole and from a slot on",
    () =>
      Effect.gen(function* () {
        const chain = simulated(12)
        const folder = yield* folderOf
        const [proto, lines] = [join(folder, "blocks.pb.zst"), join(folder, "blocks.ndjson")]
        writeFileSync(proto, zstdCompressSync(Buffer.concat(chain.map((each) => each.proto))))
        writeFileSync(lines, chain.map(({ json, slot }) => JSON.stringify({ slot, block: json })).join("\n"))
        const rest = { ...everything, fromSlot: chain[5]?.slot ?? 0, toSlot: chain[8]?.slot ?? 0 }
        for (const [range, many] of [
          [everything, 12],
          [rest, 5]
        ] as const) {
          const [found, same] = [yield* imported(proto, range), yield* imported(lines, range)]
          assert.lengthOf(found, many)
          assert.deepStrictEqual(found, same)
        }
      }),
    240_000
  )

  it.live("says whether it helps to try again", () =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(
        Stream.runDrain(readImport({ place: { _tag: "file", path: "/nowhere" }, range: everything }))
      )
      assert.instanceOf(refused, ImportRefused)
      const away = { _tag: "portal", url: "http://127.0.0.1:1/datasets/none" } as const
      const failed = yield* Effect.flip(
        Stream.runDrain(readImport({ place: away, range: { ...everything, fromSlot: 1 } }))
      )
      assert.instanceOf(failed, ChainUnavailable)
    })
  )
})
