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
  type OpenedWallets
} from "../model/WalletOpenings.ts"
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
const Count = Schema.Struct({ count: Schema.Number })

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

  /** The newest wallets that a wallet opened, and how many there are, counted up to a bound. */
  ofFunder: Effect.fnUntraced(function* (chain: number, { before, funder, limit }: OpeningsRequest) {
    const rows = yield* SqlSchema.findAll({
      Request: Schema.Void,
      Result: Row,
      execute: () => sql`
        select ${sql.literal(COLUMNS)} from wallet_openings
        where chain = ${chain} and funder = ${binary(funder)}
          and (slot, place) < (${before?.slot ?? LAST_PLACE}::int, ${before?.index ?? LAST_PLACE}::int)
        order by slot desc, place desc limit ${limit}
      `
    })(undefined)
    const counts = yield* SqlSchema.findAll({
      Request: Schema.Void,
      Result: Count,
      execute: () => sql`
        select count(*)::int as count from (
          select 1 from wallet_openings where chain = ${chain} and funder = ${binary(funder)} limit ${MOST_COUNTED + 1}
        ) as counted
      `
    })(undefined)
    return { openings: rows.map(recordOf), count: counts[0]?.count ?? 0 } satisfies OpenedWallets
  }),

  /** Deletes openings from before a time, of every chain. */
  dropBefore: (timeMs: number) => {
    const where = sql`at < ${PgTypes.timestamptz(timeMs)}`
    return purgeRows({ sql, table: "wallet_openings", where, bound: (statement) => statement })
  }
})
