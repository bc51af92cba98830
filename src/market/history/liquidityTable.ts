/** Queries of the table `liquidity_events`: what providers added to pools and took from them. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import { type Address, addressFromBytes } from "../../domain/Address.ts"
import type { LiquiditySide } from "../../api/schemas/LiquidityEvent.ts"
import { purgeRows } from "../../storage/purge.ts"
import type { LiquidityRecord, LiquidityRequest } from "../model/StoredLiquidity.ts"
import type { StoredBatch } from "../model/StoredBatch.ts"
import { newestFirst } from "../model/TradesRequest.ts"
import { columnsOf } from "./arrays.ts"
import { packSignature, packWallet, SIGNATURE_BYTES, unpackText } from "./tradeRows.ts"

const bytes = Schema.Uint8Array
const Row = Schema.Struct({
  slot: Schema.Number,
  place: Schema.Number,
  at: Schema.Date,
  signature: bytes,
  isAdded: Schema.Boolean,
  opensPool: Schema.Boolean,
  includesFees: Schema.Boolean,
  pool: bytes,
  dex: Schema.String,
  provider: Schema.NullOr(bytes),
  mintA: Schema.NullOr(bytes),
  mintB: Schema.NullOr(bytes),
  amountA: Schema.NullOr(Schema.String),
  amountB: Schema.NullOr(Schema.String),
  decimalsA: Schema.NullOr(Schema.Number),
  decimalsB: Schema.NullOr(Schema.Number)
})

const COLUMNS = `slot, place, at, signature, is_added, opens_pool, includes_fees, pool, dex, provider, mint_a, mint_b,
  amount_a::text as amount_a, amount_b::text as amount_b, decimals_a, decimals_b`

/** New pools that are read and decoded in one step. */
const OPENED_PAGE = 500
const LAST_PLACE = 2_147_483_647

const sideOf = (mint: Uint8Array | null, amount: string | null, decimals: number | null): LiquiditySide | null =>
  mint === null || amount === null ? null : { mint: addressFromBytes(mint), amount: BigInt(amount), decimals }

const recordOf = (row: typeof Row.Type): LiquidityRecord => ({
  slot: row.slot,
  index: row.place,
  timeMs: row.at.getTime(),
  signature: unpackText(row.signature, SIGNATURE_BYTES),
  kind: row.isAdded ? "added" : "removed",
  opens: row.opensPool,
  includesFees: row.includesFees,
  pool: addressFromBytes(row.pool),
  dex: row.dex,
  provider: row.provider === null ? null : addressFromBytes(row.provider),
  sides: [sideOf(row.mintA, row.amountA, row.decimalsA), sideOf(row.mintB, row.amountB, row.decimalsB)].flatMap(
    (side) => side ?? []
  )
})

const NOTHING = PgTypes.bytea(new Uint8Array())
const binary = (address: Address) => PgTypes.bytea(packWallet(address))

export const makeLiquidityTable = (sql: SqlClient.SqlClient) => {
  /** One index finds the rows of each of these columns. */
  const found = (
    chain: number,
    column: "mint_a" | "mint_b" | "pool",
    address: Address,
    { before, fromMs, kind, limit, mint, toMs }: LiquidityRequest
  ) =>
    SqlSchema.findAll({
      Request: Schema.Void,
      Result: Row,
      execute: () => sql`
        select ${sql.literal(COLUMNS)} from liquidity_events
        where chain = ${chain} and ${sql.literal(column)} = ${binary(address)}
          and (slot, place) < (${before?.slot ?? LAST_PLACE}::int, ${before?.index ?? LAST_PLACE}::int)
          and at >= ${PgTypes.timestamptz(fromMs ?? 0)}
          and (${toMs === null} or at < ${PgTypes.timestamptz(toMs ?? 0)})
          and (${kind === null} or is_added = ${kind === "added"})
          and (${mint === null || column !== "pool"} or ${mint === null ? NOTHING : binary(mint)} in (mint_a, mint_b))
        order by slot desc, place desc limit ${limit}
      `
    })(undefined)

  const openedPage = (chain: number, fromMs: number, before: LiquidityRecord | null, limit: number) =>
    SqlSchema.findAll({
      Request: Schema.Void,
      Result: Row,
      execute: () => sql`
        select ${sql.literal(COLUMNS)} from liquidity_events
        where chain = ${chain} and opens_pool and at >= ${PgTypes.timestamptz(fromMs)}
          and (${before === null} or (at, slot, place)
            < (${PgTypes.timestamptz(before?.timeMs ?? 0)}, ${before?.slot ?? 0}::int, ${before?.index ?? 0}::int))
        order by at desc, slot desc, place desc limit ${limit}
      `
    })(undefined)

  return {
    /** Adds the changes of blocks that are not stored yet, in the transaction of the caller. */
    insert: (chain: number, batches: ReadonlyArray<StoredBatch>) => {
      const all = batches.flatMap(({ liquidity = [], slot, timeMs }) =>
        liquidity.map((each) => ({ ...each, slot, timeMs, a: each.sides[0], b: each.sides[1] }))
      )
      const given = columnsOf(all)
      const none = new Uint8Array()
      return all.length === 0
        ? Effect.void
        : sql`
            insert into liquidity_events (
              chain, slot, place, at, signature, is_added, opens_pool, includes_fees, pool, dex, provider,
              mint_a, mint_b, amount_a, amount_b, decimals_a, decimals_b
            )
            select ${chain}::int, slot, place, at, signature, is_added, opens_pool, includes_fees, pool, dex,
              nullif(provider, ''), nullif(mint_a, ''), nullif(mint_b, ''), amount_a::numeric, amount_b::numeric,
              decimals_a, decimals_b
            from unnest(
              ${given.integers(({ slot }) => slot)},
              ${given.integers(({ index }) => index)},
              ${given.times(({ timeMs }) => timeMs)},
              ${given.binaries(({ signature }) => packSignature(signature))},
              ${given.booleans(({ kind }) => kind === "added")},
              ${given.booleans(({ opens }) => opens)},
              ${given.booleans(({ includesFees }) => includesFees)},
              ${given.binaries(({ pool }) => packWallet(pool))},
              ${given.texts(({ dex }) => dex)},
              ${given.binaries(({ provider }) => (provider === null ? none : packWallet(provider)))},
              ${given.binaries(({ a }) => (a === undefined ? none : packWallet(a.mint)))},
              ${given.binaries(({ b }) => (b === undefined ? none : packWallet(b.mint)))},
              ${given.texts(({ a }) => (a === undefined ? null : String(a.amount)))},
              ${given.texts(({ b }) => (b === undefined ? null : String(b.amount)))},
              ${given.shorts(({ a }) => a?.decimals ?? null)},
              ${given.shorts(({ b }) => b?.decimals ?? null)}
            ) as given (
              slot, place, at, signature, is_added, opens_pool, includes_fees, pool, dex, provider,
              mint_a, mint_b, amount_a, amount_b, decimals_a, decimals_b
            )
            on conflict do nothing
          `
    },

    /** The newest requested changes, newest first. The request names a mint or a pool. A pool is the narrower one. */
    of: Effect.fnUntraced(function* (chain: number, request: LiquidityRequest) {
      const { limit, mint, pool } = request
      if (pool !== null) {
        return (yield* found(chain, "pool", pool, request)).map(recordOf)
      }
      const lists =
        mint === null
          ? []
          : [yield* found(chain, "mint_a", mint, request), yield* found(chain, "mint_b", mint, request)]
      return lists.flat().map(recordOf).toSorted(newestFirst).slice(0, limit)
    }),

    /**
     * The first liquidity of the newest pools that were created since a time, newest first. Read page by page, so that a
     * long list holds the thread up for a page at a time.
     */
    opened: Effect.fnUntraced(function* (chain: number, fromMs: number, most: number) {
      const found: Array<LiquidityRecord> = []
      for (let isMore = true; isMore;) {
        const limit = Math.min(OPENED_PAGE, most - found.length)
        const page = yield* openedPage(chain, fromMs, found.at(-1) ?? null, limit)
        found.push(...page.map(recordOf))
        isMore = page.length === limit && found.length < most
      }
      return found
    }),

    /** Deletes changes from before a time, of every chain. */
    dropBefore: (timeMs: number) => {
      const where = sql`at < ${PgTypes.timestamptz(timeMs)}`
      return purgeRows({ sql, table: "liquidity_events", where, bound: (statement) => statement })
    }
  }
}
