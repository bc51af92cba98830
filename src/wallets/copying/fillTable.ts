/** Queries of the table `copy_fills`. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Option, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import { Address } from "../../domain/Address.ts"
import {
  CopyFill,
  Execution,
  type FilledCopy,
  FillId,
  FillSide,
  type FillSelection,
  FollowId,
  LeaderTrade
} from "../../api/schemas/Copying.ts"
import { fillPlace, sliceOf } from "./copySlice.ts"
import type { TurnSelection } from "./FollowStore.ts"

/** Rows decoded between two yields: a few milliseconds of work. */
const DECODED_AT_ONCE = 250

const COLUMNS = `
  id, follow_id, mint, side, status, reason, leader_wallet, leader_signature, leader_slot::float8,
  (extract(epoch from leader_at) * 1000)::float8 as leader_at_ms,
  leader_price_usd::text, leader_usd_nanos::text,
  signature, slot::float8, (extract(epoch from executed_at) * 1000)::float8 as at_ms,
  in_mint, in_amount::text, out_mint, out_amount::text, price_usd::text, usd_nanos::text, fee_usd_nanos::text
`

const { execution: _execution, leader: _leader, ...columns } = CopyFill.fields
const executed = Execution.fields
const nanos = Schema.NullOr(Schema.BigIntFromString)
const Row = Schema.Struct({
  ...columns,
  leaderWallet: LeaderTrade.fields.wallet,
  leaderSignature: LeaderTrade.fields.signature,
  leaderSlot: LeaderTrade.fields.slot,
  leaderAtMs: LeaderTrade.fields.atMs,
  leaderPriceUsd: LeaderTrade.fields.priceUsd,
  leaderUsdNanos: nanos,
  signature: Schema.NullOr(executed.signature),
  slot: Schema.NullOr(executed.slot),
  atMs: Schema.NullOr(executed.atMs),
  inMint: Schema.NullOr(executed.inMint),
  inAmount: Schema.NullOr(executed.inAmount),
  outMint: Schema.NullOr(executed.outMint),
  outAmount: Schema.NullOr(executed.outAmount),
  priceUsd: executed.priceUsd,
  usdNanos: nanos,
  feeUsdNanos: nanos
})
const FilledRow = Schema.Struct({
  id: FillId,
  followId: FollowId,
  mint: Address,
  side: FillSide,
  leaderSlot: Schema.Int,
  slot: Schema.Int,
  atMs: Schema.Int,
  amount: Schema.BigIntFromString,
  valueUsdNanos: nanos,
  feeUsdNanos: nanos
})

const decodeFilled: (rows: unknown) => Effect.Effect<ReadonlyArray<FilledCopy>, Schema.SchemaError> =
  Schema.decodeUnknownEffect(Schema.Array(FilledRow))

const executionOf = (row: typeof Row.Type): Execution | null => {
  const { atMs, feeUsdNanos, inAmount, inMint, outAmount, outMint, priceUsd, signature, slot, usdNanos } = row
  return signature === null ||
    slot === null ||
    atMs === null ||
    inMint === null ||
    inAmount === null ||
    outMint === null ||
    outAmount === null
    ? null
    : { signature, slot, atMs, inMint, inAmount, outMint, outAmount, priceUsd, valueUsdNanos: usdNanos, feeUsdNanos }
}

const fillOf = (row: typeof Row.Type): CopyFill => ({
  id: row.id,
  followId: row.followId,
  mint: row.mint,
  side: row.side,
  status: row.status,
  reason: row.reason,
  leader: {
    wallet: row.leaderWallet,
    signature: row.leaderSignature,
    slot: row.leaderSlot,
    atMs: row.leaderAtMs,
    priceUsd: row.leaderPriceUsd,
    valueUsdNanos: row.leaderUsdNanos
  },
  execution: executionOf(row)
})

const digits = (amount: bigint | null | undefined): string | null => amount?.toString() ?? null

const columnsOf = ({ execution, leader, ...fill }: CopyFill) => ({
  id: fill.id,
  followId: fill.followId,
  mint: fill.mint,
  side: fill.side,
  status: fill.status,
  reason: fill.reason,
  leaderWallet: leader.wallet,
  leaderSignature: leader.signature,
  leaderSlot: leader.slot,
  leaderAt: PgTypes.timestamptz(leader.atMs),
  leaderPriceUsd: leader.priceUsd,
  leaderUsdNanos: digits(leader.valueUsdNanos),
  signature: execution?.signature ?? null,
  slot: execution?.slot ?? null,
  executedAt: execution === null ? null : PgTypes.timestamptz(execution.atMs),
  inMint: execution?.inMint ?? null,
  inAmount: digits(execution?.inAmount),
  outMint: execution?.outMint ?? null,
  outAmount: digits(execution?.outAmount),
  priceUsd: execution?.priceUsd ?? null,
  usdNanos: digits(execution?.valueUsdNanos),
  feeUsdNanos: digits(execution?.feeUsdNanos)
})

const FILLED_COLUMNS = `
  id, follow_id, mint, side, leader_slot::float8, slot::float8,
  (extract(epoch from executed_at) * 1000)::float8 as at_ms,
  (case side when 'buy' then out_amount else in_amount end)::text as amount,
  usd_nanos::text as value_usd_nanos, fee_usd_nanos::text
`

/** Decodes rows in batches and yields in between, because thousands of rows block the event loop. */
const filledOf = Effect.fnUntraced(function* (rows: ReadonlyArray<unknown>) {
  const copies: Array<FilledCopy> = []
  for (let at = 0; at < rows.length; at += DECODED_AT_ONCE) {
    copies.push(...(yield* decodeFilled(rows.slice(at, at + DECODED_AT_ONCE))))
    yield* Effect.yieldNow
  }
  return copies
})

export const makeFillTable = (sql: SqlClient.SqlClient) => {
  const shown = sql.literal(COLUMNS)
  const filled = sql.literal(FILLED_COLUMNS)

  /** Counts a final status. Called once per fill, because final fills never change. */
  const count = ({ execution, followId, status }: CopyFill) => {
    const executedAt =
      status === "filled" && execution !== null ? sql`${PgTypes.timestamptz(execution.atMs)}` : sql`null::timestamptz`
    const counter = sql(status)
    return sql`
      update copy_follows set ${counter} = ${counter} + 1, last_fill_at = greatest(last_fill_at, ${executedAt})
      where id = ${followId}
    `
  }

  /** Locks the follow until the transaction ends. */
  const nextTurn = SqlSchema.findOneOption({
    Request: FollowId,
    Result: Schema.Struct({ accountId: Schema.String, turn: Schema.Int }),
    execute: (followId) => sql`
      select account_id, (filled + 1)::float8 as turn from copy_follows where id = ${followId} for update
    `
  })

  return {
    record: Effect.fnUntraced(function* (fill: CopyFill) {
      const held = yield* nextTurn(fill.followId)
      if (Option.isNone(held)) {
        return false
      }
      const { accountId, turn } = held.value
      const row = { ...columnsOf(fill), accountId, turn: fill.status === "filled" ? turn : null }
      const { id: _id, followId: _follow, accountId: _account, ...changes } = row
      const written = yield* sql`
        insert into copy_fills ${sql.insert(row)}
        on conflict (id) do update set ${sql.update(changes)}
        where copy_fills.status = 'pending' and excluded.status <> 'pending'
          and copy_fills.follow_id = excluded.follow_id
        returning id
      `
      if (written.length === 0) {
        return false
      }
      yield* fill.status === "pending" ? Effect.void : count(fill)
      return true
    }),

    page: (selection: FillSelection) => {
      const { accountId, after, followId, limit, mint, sinceMs, status, untilMs } = selection
      const conditions = [
        sql`account_id = ${accountId}`,
        ...(followId === null ? [] : [sql`follow_id = ${followId}`]),
        ...(mint === null ? [] : [sql`mint = ${mint}`]),
        ...(status === null ? [] : [sql`status = ${status}`]),
        ...(sinceMs === null ? [] : [sql`leader_at >= ${PgTypes.timestamptz(sinceMs)}`]),
        ...(untilMs === null ? [] : [sql`leader_at <= ${PgTypes.timestamptz(untilMs)}`]),
        ...(after === null
          ? []
          : [sql`(leader_at, id) < (${PgTypes.timestamptz(after.atMs)}, ${after.id}::text collate "C")`])
      ]
      const found = SqlSchema.findAll({
        Request: Schema.Void,
        Result: Row,
        execute: () => sql`
          select ${shown} from copy_fills where ${sql.and(conditions)}
          order by leader_at desc, id desc limit ${limit + 1}
        `
      })()
      return Effect.map(found, (rows) => sliceOf(rows.map(fillOf), limit, fillPlace))
    },

    inTurn: ({ accountId, after, followId, through }: TurnSelection) =>
      Effect.flatMap(
        sql`
          select ${filled} from copy_fills
          where account_id = ${accountId} and follow_id = ${followId} and turn > ${after} and turn <= ${through}
          order by turn
        `,
        filledOf
      )
  }
}
