/** Queries of the table `wallet_openings`: the transfer that opened each wallet's account. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import { type Address, addressFromBytes } from "../../domain/Address.ts"
import type { Signature } from "../../domain/Signature.ts"
import { purgeRows } from "../../storage/purge.ts"
import type { StoredBatch } from "../model/StoredBatch.ts"
import {
  firstOpenings,
  MOST_COUNTED,
  type OpeningRecord,
  openingsIn,
  type OpeningsRequest,
  type RelatedOpenings
} from "../model/WalletOpenings.ts"
import { newestFirst } from "../model/TradesRequest.ts"
import { columnsOf } from "./arrays.ts"
import { packSignature, packWallet, SIGNATURE_BYTES, unpackText } from "./tradeRows.ts"

const bytes = Schema.Uint8Array
const Row = Schema.Struct({
  wallet: bytes,
  funder: bytes,
  slot: Schema.Number,
  place: Schema.Number,
  at: Schema.Date,
  signature: bytes,
  lamports: Schema.String
})
/** A row beside the count: the wallet's own opening, or one of its funder's. Without any there is one row of nulls. */
const Found = Schema.Union([
  Schema.Struct({ ...Row.fields, count: Schema.Number, isOwn: Schema.Boolean }),
  Schema.Struct({ wallet: Schema.Null, count: Schema.Number })
])

const COLUMNS = "wallet, funder, slot, place, at, signature, lamports::text as lamports"
const LAST_PLACE = 2_147_483_647

const recordOf = (row: typeof Row.Type): OpeningRecord => ({
  wallet: addressFromBytes(row.wallet),
  funder: addressFromBytes(row.funder),
  slot: row.slot,
  index: row.place,
  timeMs: row.at.getTime(),
  // Written from a signature.
  signature: unpackText(row.signature, SIGNATURE_BYTES) as Signature,
  lamports: BigInt(row.lamports)
})

const binary = (address: Address) => PgTypes.bytea(packWallet(address))

export const makeOpeningTable = (sql: SqlClient.SqlClient) => ({
  /** Adds the openings of blocks, in the transaction of the caller. The earliest one of a wallet stays, in whatever order blocks come. */
  insert: (chain: number, batches: ReadonlyArray<StoredBatch>) => {
    // In the order of wallets, so that two writers cannot deadlock.
    const all = firstOpenings(openingsIn(batches)).toSorted((a, b) => (a.wallet < b.wallet ? -1 : 1))
    const given = columnsOf(all)
    return all.length === 0
      ? Effect.void
      : sql`
          insert into wallet_openings (chain, wallet, funder, slot, place, at, signature, lamports)
          select ${chain}::int, wallet, funder, slot, place, at, signature, lamports::numeric
          from unnest(
            ${given.binaries(({ wallet }) => packWallet(wallet))},
            ${given.binaries(({ funder }) => packWallet(funder))},
            ${given.integers(({ slot }) => slot)},
            ${given.integers(({ index }) => index)},
            ${given.times(({ timeMs }) => timeMs)},
            ${given.binaries(({ signature }) => packSignature(signature))},
            ${given.texts(({ lamports }) => String(lamports))}
          ) as given (wallet, funder, slot, place, at, signature, lamports)
          on conflict (chain, wallet) do update set
            funder = excluded.funder, slot = excluded.slot, place = excluded.place, at = excluded.at,
            signature = excluded.signature, lamports = excluded.lamports
          where (excluded.slot, excluded.place) < (wallet_openings.slot, wallet_openings.place)
        `
  },

  /** The earliest stored opening of a wallet; null when none is stored. */
  ofWallet: (chain: number, wallet: Address) =>
    Effect.map(
      SqlSchema.findAll({
        Request: Schema.Void,
        Result: Row,
        execute: () => sql`
          select ${sql.literal(COLUMNS)} from wallet_openings where chain = ${chain} and wallet = ${binary(wallet)}
        `
      })(undefined),
      ([row]) => (row === undefined ? null : recordOf(row))
    ),

  /**
   * The earliest stored opening of a wallet, the newest wallets that it or its funder opened, and how many there are, counted
   * up to a bound. All of one moment.
   */
  related: (chain: number, { before, limit, relation, wallet }: OpeningsRequest) =>
    Effect.map(
      SqlSchema.findAll({
        Request: Schema.Void,
        Result: Found,
        execute: () => sql`
          with own as materialized (
            select ${sql.literal(COLUMNS)} from wallet_openings where chain = ${chain} and wallet = ${binary(wallet)}
          ), whose as materialized (
            select ${relation === "funded" ? sql`${binary(wallet)}::bytea` : sql`(select funder from own)`} as funder
          ), counted as (
            select count(*)::int as count from (
              select 1 from whose join wallet_openings as each on each.chain = ${chain} and each.funder = whose.funder
              limit ${MOST_COUNTED + 1}
            ) as counted
          ), opened as (
            select newest.* from whose cross join lateral (
              select ${sql.literal(COLUMNS)} from wallet_openings as each
              where each.chain = ${chain} and each.funder = whose.funder
                and (each.slot, each.place) < (${before?.slot ?? LAST_PLACE}::int, ${before?.index ?? LAST_PLACE}::int)
              order by each.slot desc, each.place desc limit ${limit}
            ) as newest
          )
          select counted.count, found.* from counted left join (
            select true as "isOwn", own.* from own union all select false, opened.* from opened
          ) as found on true
        `
      })(undefined),
      (rows) => {
        const found = rows.filter((row) => row.wallet !== null)
        const own = found.find(({ isOwn }) => isOwn)
        const openings = found.filter(({ isOwn }) => !isOwn).map(recordOf)
        return {
          opening: own === undefined ? null : recordOf(own),
          opened: { openings: openings.toSorted(newestFirst), count: rows[0]?.count ?? 0 }
        } satisfies Pick<RelatedOpenings, "opened" | "opening">
      }
    ),

  /** Deletes openings from before a time, of every chain. */
  dropBefore: (timeMs: number) => {
    const where = sql`at < ${PgTypes.timestamptz(timeMs)}`
    return purgeRows({ sql, table: "wallet_openings", where, bound: (statement) => statement })
  }
})
