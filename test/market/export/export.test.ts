/** Exports of stored trades and candles, read back by another library. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type ExportRequest, exportRows } from "../../../src/market/export/exportRows.ts"
import { BlockStore } from "../../../src/market/model/BlockStore.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { storesOn } from "../../support/marketStores.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { makeTape, mintOf, MONDAY, trade, walletOf } from "../tape/tape.ts"
import { storedBlock } from "../history/storedBlock.ts"

const DAY = 86_400
const MANY = 2n ** 64n - 1n

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "fathom-export-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const open = (genesis: string) => BlockStore.use((store) => store.open({ genesis, isSandbox: false }))

const all = (file: string, given: Partial<ExportRequest> = {}): ExportRequest => ({
  dataset: "trades",
  file,
  format: "parquet",
  fromMs: null,
  toMs: null,
  width: "1m",
  genesis: null,
  ...given
})

const readBack = (file: string) =>
  Effect.promise(async () => parquetReadObjects({ file: await asyncBufferFromFile(file) }))

/** The nine places of a decimal as a whole number, from a reader that gives it as a double. */
const nanosOf = (value: unknown): bigint => BigInt(Math.round(Number(value) * 1e9))

const sumOf = (values: ReadonlyArray<bigint>): bigint => values.reduce((sum, value) => sum + value, 0n)

/** Blocks of generated trades: one per second, over more than one page of a cursor. */
const generated = (): ReadonlyArray<ReturnType<typeof storedBlock>> => {
  const bySecond = new Map<number, Array<TapeTrade>>()
  for (const each of makeTape({ seed: 5, trades: 12_000, tokens: 9, wallets: 40, paceSeconds: 14 })) {
    const second = Math.floor(each.timeMs / 1000) - MONDAY
    bySecond.set(second, [...(bySecond.get(second) ?? []), each])
  }
  return Array.from(bySecond)
    .toSorted(([a], [b]) => a - b)
    .map(([second, trades]) => {
      const block = storedBlock(second)
      // Dollars that a double holds to nine places, because the reader gives decimals as doubles.
      const placed = trades.map((each, index) => ({
        ...each,
        slot: block.slot,
        timeMs: block.timeMs,
        index,
        volumeUsdNanos: each.volumeUsdNanos === null ? null : each.volumeUsdNanos % 2n ** 46n
      }))
      return { ...block, trades: placed }
    })
}

describe.runIf(TestDatabase.isAvailable)("an export", () => {
  const database = TestDatabase.layer
  layer(Layer.provideMerge(storesOn(database), database), { timeout: "2 minutes", excludeTestServices: true })((it) => {
    it.effect("has every stored trade of its range once, in the order of the chain, to the unit", () =>
      Effect.gen(function* () {
        const store = yield* BlockStore
        yield* open("generated")
        const blocks = generated()
        for (let at = 0; at < blocks.length; at += 500) {
          yield* store.append(blocks.slice(at, at + 500))
        }
        const path = yield* folder
        const cut = (MONDAY + DAY + 1234) * 1000
        const expected = blocks
          .flatMap(({ trades }) => trades)
          .filter(({ role }) => role !== "wallet" && role !== "transfer")
        for (const [name, given, wanted] of [
          ["all", {}, expected],
          ["first", { toMs: cut }, expected.filter(({ timeMs }) => timeMs < cut)],
          ["rest", { fromMs: cut }, expected.filter(({ timeMs }) => timeMs >= cut)]
        ] as const) {
          const file = join(path, name)
          const summary = yield* exportRows(all(file, given))
          const rows = yield* readBack(file)
          assert.strictEqual(summary.rows, wanted.length)
          assert.deepStrictEqual(
            rows.map(({ amount, index, mint, signature, slot }) => [slot, index, mint, signature, amount]),
            wanted.map(({ amount, index, mint, signature, slot }) => [slot, index, mint, signature, amount])
          )
          assert.strictEqual(
            sumOf(rows.map(({ volume_usd }) => nanosOf(volume_usd))),
            sumOf(wanted.map(({ volumeUsdNanos }) => volumeUsdNanos ?? 0n))
          )
        }
      })
    )

    it.effect("keeps the largest amounts, and null for what is unknown, in every kind of file", () =>
      Effect.gen(function* () {
        yield* open("largest")
        const store = yield* BlockStore
        const unknown = { decimals: null, lamports: null, priceUsd: null, volumeUsdNanos: null, pool: null, dex: null }
        yield* store.append([
          storedBlock(1, [{ amount: MANY, lamports: MANY, volumeUsdNanos: MANY, dex: 'a "b", c' }]),
          storedBlock(2, [unknown])
        ])
        const path = yield* folder
        const [parquet, csv, ndjson] = ["p", "c", "n"].map((name) => join(path, name)) as [string, string, string]
        yield* exportRows(all(parquet))
        yield* exportRows(all(csv, { format: "csv" }))
        yield* exportRows(all(ndjson, { format: "ndjson" }))
        const rows = yield* readBack(parquet)
        assert.deepStrictEqual([rows[0]?.["amount"], rows[0]?.["lamports"]], [MANY, MANY])
        for (const name of ["decimals", "lamports", "price_usd", "volume_usd", "pool", "dex"]) {
          assert.isNull(rows[1]?.[name], name)
        }
        const [head = "", first = "", second = ""] = readFileSync(csv, "utf8").split("\n")
        assert.include(first, `,${MANY},`)
        assert.include(first, "18446744073.709551615")
        assert.include(first, '"a ""b"", c"')
        const values = second.split(",")
        assert.strictEqual(values[head.split(",").indexOf("volume_usd")], "")
        const objects = readFileSync(ndjson, "utf8")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line))
        assert.strictEqual(objects[0].amount, MANY.toString())
        assert.strictEqual(objects[0].volume_usd, "18446744073.709551615")
        assert.strictEqual(objects[0].time, new Date((MONDAY + 1) * 1000).toISOString())
        assert.isNull(objects[1].volume_usd)
      })
    )

    it.effect("of wallets has net trades and transfers with what was held, and no swaps of pools alone", () =>
      Effect.gen(function* () {
        yield* open("wallets")
        const store = yield* BlockStore
        const held = { before: 5n, after: 7n }
        yield* store.append([
          storedBlock(1, [
            { role: "pool" },
            { role: "wallet", held, feeUsdNanos: null },
            { role: "transfer", wallet: walletOf(9), counterparty: walletOf(3) },
            { role: "transfer", wallet: walletOf(9), side: "sell" }
          ])
        ])
        const path = yield* folder
        yield* exportRows(all(join(path, "file"), { dataset: "wallets" }))
        const rows = yield* readBack(join(path, "file"))
        assert.deepStrictEqual(
          rows.map(({ counterparty, fee_usd, held_after, held_before, is_transfer, wallet }) => [
            is_transfer,
            wallet,
            held_before,
            held_after,
            fee_usd,
            counterparty
          ]),
          [
            [false, trade().wallet, 5n, 7n, null, null],
            [true, walletOf(9), null, null, 0, walletOf(3)],
            [true, walletOf(9), null, null, 0, null]
          ]
        )
        yield* exportRows(all(join(path, "csv"), { dataset: "wallets", format: "csv" }))
        const cells = readFileSync(join(path, "csv"), "utf8")
          .trim()
          .split("\n")
          .map((line) => line.split(",").at(-1))
        assert.deepStrictEqual(cells, ["counterparty", "", walletOf(3), ""])
        yield* exportRows(all(join(path, "ndjson"), { dataset: "wallets", format: "ndjson" }))
        const objects = readFileSync(join(path, "ndjson"), "utf8").trim().split("\n")
        assert.deepStrictEqual(
          objects.map((line) => JSON.parse(line).counterparty),
          [null, walletOf(3), null]
        )
      })
    )

    it.effect("of holders has what each wallet held after its newest transaction of the range", () =>
      Effect.gen(function* () {
        yield* open("holders")
        const store = yield* BlockStore
        const [mint, other] = [mintOf(1), mintOf(2)]
        const of = (wallet: number, after: bigint | null, given: Partial<TapeTrade> = {}): Partial<TapeTrade> => ({
          role: "both",
          wallet: walletOf(wallet),
          mint,
          ...(after === null ? {} : { held: { before: 0n, after } }),
          ...given
        })
        yield* store.append([
          storedBlock(1, [of(1, 5n), of(2, 9n), of(1, 8n, { mint: other }), of(3, 4n)]),
          storedBlock(2, [
            of(1, MANY),
            of(2, 0n),
            of(4, null),
            of(5, 1n, { role: "transfer" }),
            of(6, 7n, { role: "pool" })
          ])
        ])
        const path = yield* folder
        const rowsOf = Effect.fnUntraced(function* (name: string, given: Partial<ExportRequest>) {
          const summary = yield* exportRows(all(join(path, name), { dataset: "holders", ...given }))
          const rows = yield* readBack(join(path, name))
          assert.strictEqual(summary.rows, rows.length)
          return new Map(rows.map(({ amount, mint, wallet }) => [`${mint} ${wallet}`, amount]))
        })
        assert.deepStrictEqual(
          yield* rowsOf("all", {}),
          new Map([
            [`${mint} ${walletOf(1)}`, MANY],
            [`${mint} ${walletOf(3)}`, 4n],
            [`${mint} ${walletOf(4)}`, null],
            [`${mint} ${walletOf(5)}`, 1n],
            [`${other} ${walletOf(1)}`, 8n]
          ])
        )
        const past = yield* rowsOf("past", { toMs: (MONDAY + 2) * 1000 })
        assert.strictEqual(past.get(`${mint} ${walletOf(2)}`), 9n)
        assert.strictEqual(past.get(`${mint} ${walletOf(1)}`), 5n)
      })
    )

    it.effect("of candles has the closed ones, with the volume of their trades", () =>
      Effect.gen(function* () {
        yield* open("candles")
        const store = yield* BlockStore
        const one = { mint: mintOf(3), volumeUsdNanos: 2_000_000_001n, priceUsd: 2, side: "buy" as const }
        yield* store.append([storedBlock(1, [one, one]), storedBlock(70, [one])])
        yield* store.append([storedBlock(1000, [one])])
        yield* store.closeBars
        const file = join(yield* folder, "file")
        const { toMs } = yield* exportRows(all(file, { dataset: "bars" }))
        const rows = (yield* readBack(file)).filter(({ mint }) => mint === one.mint)
        assert.isAtLeast(toMs, (MONDAY + 120) * 1000)
        assert.deepStrictEqual(
          rows.slice(0, 2).map(({ buys, time, trades, volume_usd }) => [time, trades, buys, nanosOf(volume_usd)]),
          [
            [new Date(MONDAY * 1000), 2n, 2n, 4_000_000_002n],
            [new Date((MONDAY + 60) * 1000), 1n, 1n, 2_000_000_001n]
          ]
        )
      })
    )

    it.effect("says which blocks of its range are missing, in the file too", () =>
      Effect.gen(function* () {
        yield* open("gaps")
        const store = yield* BlockStore
        yield* store.append([storedBlock(1, [{}])])
        yield* store.append([storedBlock(90, [{}], { afterGap: true }), storedBlock(95, [{}])])
        const path = yield* folder
        const summary = yield* exportRows(all(join(path, "all")))
        assert.isFalse(summary.isWhole)
        assert.deepStrictEqual(summary.gaps, [{ fromSlot: 1002, toSlot: 1089 }])
        const metadata = yield* Effect.promise(async () =>
          parquetMetadataAsync(await asyncBufferFromFile(join(path, "all")))
        )
        const [about] = metadata.key_value_metadata ?? []
        assert.deepStrictEqual([about?.key, JSON.parse(about?.value ?? "")], ["fathom", summary])
        const before = yield* exportRows(all(join(path, "before"), { toMs: (MONDAY + 2) * 1000 }))
        assert.deepInclude(before, { rows: 1, isWhole: false })
        const after = yield* exportRows(all(join(path, "after"), { fromMs: (MONDAY + 92) * 1000 }))
        assert.deepInclude(after, { rows: 1, gaps: [], isWhole: true })
      })
    )

    it.effect("is refused where a file stands or no chain is stored, and leaves no half file", () =>
      Effect.gen(function* () {
        yield* open("refused")
        const store = yield* BlockStore
        yield* store.append([storedBlock(1, [{}])])
        const path = yield* folder
        yield* exportRows(all(join(path, "file")))
        const again = yield* Effect.flip(exportRows(all(join(path, "file"))))
        assert.include(String(again), "exists already")
        const unknown = yield* Effect.flip(exportRows(all(join(path, "other"), { genesis: "nobody" })))
        assert.include(String(unknown), "no trades")
        const away = yield* Effect.flip(exportRows(all(join(path, "none", "file"))))
        assert.include(String(away), "ENOENT")
        assert.deepStrictEqual(readdirSync(path), ["file"])
        assert.isFalse(existsSync(join(path, "none")))
      })
    )
  })
})
