/** The views for readers of the database, compared with exported files. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SOL } from "../../../src/domain/Address.ts"
import { toBase58 } from "../../../src/domain/base58.ts"
import { barColumns, tradeColumns, walletColumns } from "../../../src/market/export/columns.ts"
import { exportRows } from "../../../src/market/export/exportRows.ts"
import { BlockStore } from "../../../src/market/model/BlockStore.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { storesOn } from "../../support/marketStores.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { makeTape, MONDAY, walletOf } from "../tape/tape.ts"
import { storedBlock } from "../history/storedBlock.ts"

const MANY = 2n ** 64n - 1n
const Rows = Schema.Array(Schema.Struct({ row: Schema.Record(Schema.String, Schema.NullOr(Schema.String)) }))

type Cells = Readonly<Record<string, unknown>>

/** Values of rows in one form: dollars without trailing zeros, times and doubles as numbers, the rest as text. */
const plain = (rows: ReadonlyArray<Cells>, columns: typeof barColumns | typeof tradeColumns) =>
  rows.map((row) =>
    columns.map(({ kind, name }) => {
      const value = row[name] ?? null
      if (value === null) {
        return [name, null]
      }
      const text = String(value)
      if (kind === "nanos") {
        return [name, text.includes(".") ? text.replace(/\.?0+$/u, "") : text]
      }
      return [name, kind === "time" ? Date.parse(text) : kind === "number" ? Number(text) : text]
    })
  )

const viewRows = Effect.fnUntraced(function* (view: string, genesis: string, order: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`
    select (select jsonb_object_agg(key, value) from jsonb_each_text(to_jsonb(each))) as row
    from ${sql.literal(view)} as each where chain = ${genesis} order by ${sql.literal(order)}
  `.withoutTransform
  return (yield* Schema.decodeUnknownEffect(Rows)(rows)).map(({ row }) => row)
})

/** Every row of an export as an object. */
const exported = Effect.fnUntraced(function* (dataset: "trades" | "wallets" | "bars", genesis: string) {
  const folder = mkdtempSync(join(tmpdir(), "fathom-views-"))
  const file = join(folder, "rows")
  yield* exportRows({ dataset, file, format: "ndjson", fromMs: null, toMs: null, width: "1m", genesis })
  const text = readFileSync(file, "utf8").trim()
  rmSync(folder, { recursive: true })
  return text.split("\n").map((line): Cells => JSON.parse(line))
})

/** Blocks with trades of every role, with the largest amounts, unknown values, zeros at the front of bytes and text. */
const blocks = () => {
  const held = { before: 0n, after: MANY }
  const two = { mint: SOL, amount: MANY, decimals: 9 }
  const signature = toBase58(Uint8Array.from({ length: 64 }, (_, at) => (at < 3 ? 0 : at)))
  const unknown = { decimals: null, lamports: null, priceUsd: null, volumeUsdNanos: null, pool: null, dex: null }
  const rest = makeTape({ seed: 9, trades: 300, tokens: 4, wallets: 9, paceSeconds: 1 })
  return [
    storedBlock(1, [
      { role: "both", signature, amount: MANY, lamports: MANY, volumeUsdNanos: MANY, feeUsdNanos: MANY, held },
      { role: "pool", ...unknown },
      { role: "wallet", wallet: SOL, held: { before: 3n, after: 2n ** 63n }, feeUsdNanos: null, otherToken: two },
      { role: "transfer", wallet: walletOf(7), tipLamports: 5n, priorityLamports: MANY, counterparty: walletOf(8) },
      { role: "transfer", wallet: walletOf(7), counterparty: SOL }
    ]),
    ...rest.map((each: TapeTrade, n) =>
      storedBlock(2 + n, [{ ...each, slot: 1002 + n, timeMs: (MONDAY + 2 + n) * 1000, index: 0 }])
    )
  ]
}

const OWN = "0c4b1c"
const documentedRole = (role: string): ReadonlyArray<string> => {
  const text = readFileSync(new URL("../../../docs/operating/exports.md", import.meta.url), "utf8")
  const [, statements = ""] = /```sql\n(create role analyst[\s\S]*?)```/u.exec(text) ?? []
  return statements
    .replaceAll("analyst", role)
    .split(";\n")
    .filter((line) => line !== "")
}

describe.runIf(TestDatabase.isAvailable)("the views", () => {
  const database = TestDatabase.layer
  layer(Layer.provideMerge(storesOn(database), database), { timeout: "2 minutes", excludeTestServices: true })((it) => {
    it.effect("have the rows of an export, to the unit", () =>
      Effect.gen(function* () {
        const store = yield* BlockStore
        yield* store.open({ genesis: OWN, isSandbox: false })
        yield* store.append(blocks())
        yield* store.closeBars
        for (const [dataset, columns, order] of [
          ["trades", tradeColumns, "slot, index"],
          ["wallets", walletColumns, "slot, index"],
          ["bars", barColumns, "mint, time"]
        ] as const) {
          const wanted = yield* exported(dataset, OWN)
          const own = `fathom_read.${dataset}`
          const rows = (yield* viewRows(own, OWN, order)).filter(({ width = "1m" }) => width === "1m")
          assert.isAbove(rows.length, 3, dataset)
          assert.strictEqual(
            rows.filter(({ counterparty }) => typeof counterparty === "string").length,
            dataset === "wallets" ? 2 : 0
          )
          assert.deepStrictEqual(plain(rows, columns), plain(wanted, columns), dataset)
        }
      })
    )

    it.effect("are all that the documented role reads, and it writes nothing", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const role = `reader_${randomUUID().replaceAll("-", "")}`
        const statements = documentedRole(role)
        assert.lengthOf(statements, 5)
        yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
        const as = (query: string) =>
          sql.withTransaction(Effect.andThen(sql.unsafe(`set local role ${role}`), sql.unsafe(query)))
        for (const view of ["trades", "wallets", "bars", "launches", "gaps", "chains"]) {
          yield* as(`select count(*) from fathom_read.${view}`)
        }
        for (const query of ["select * from api_keys", "select * from trade_rows", "delete from fathom_read.chains"]) {
          const refused = yield* Effect.flip(as(query))
          assert.strictEqual(refused.reason._tag, "AuthorizationError", query)
        }
        yield* sql.unsafe(`drop owned by ${role}`)
        yield* sql.unsafe(`drop role ${role}`)
      })
    )
  })
})
