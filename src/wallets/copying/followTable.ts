/** Queries of the table `copy_follows`. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { type SqlClient, SqlSchema, type Statement } from "effect/sql"
import { Filters, Follow, type FollowSelection, type NewFollow, Sizing } from "../../api/schemas/Copying.ts"
import { followPlace, sliceOf } from "./copySlice.ts"

// Numerics are selected as text, because the driver would round them; a double holds every millisecond of a timestamp.
const COLUMNS = `
  id, leader_wallet, leader_label, owned_wallet_id, owned_family, owned_address, status,
  sizing_mode, sizing_amount::text, sizing_ratio_pct::text, sizing_max::text,
  copies_buys, copies_sells, min_leader_usd::text, max_market_cap_usd::text, slippage_bps,
  filled::float8, failed::float8, skipped::float8,
  (extract(epoch from last_fill_at) * 1000)::float8 as last_fill_at_ms,
  (extract(epoch from created_at) * 1000)::float8 as created_at_ms,
  (extract(epoch from updated_at) * 1000)::float8 as updated_at_ms,
  (extract(epoch from stopped_at) * 1000)::float8 as stopped_at_ms
`

const { counts, leader, ownedWallet, filters: _filters, sizing: _sizing, ...columns } = Follow.fields
const Row = Schema.Struct({
  ...columns,
  ...counts.fields,
  leaderWallet: leader.fields.wallet,
  leaderLabel: leader.fields.label,
  ownedWalletId: ownedWallet.fields.walletId,
  ownedFamily: ownedWallet.fields.family,
  ownedAddress: ownedWallet.fields.address,
  sizingMode: Sizing.fields.mode,
  sizingAmount: Sizing.fields.amount,
  sizingRatioPct: Sizing.fields.ratioPct,
  sizingMax: Sizing.fields.maxPerTrade,
  copiesBuys: Filters.fields.buys,
  copiesSells: Filters.fields.sells,
  minLeaderUsd: Filters.fields.minLeaderUsd,
  maxMarketCapUsd: Filters.fields.maxMarketCapUsd,
  slippageBps: Filters.fields.slippageBps
})

const followOf = (row: typeof Row.Type): Follow => ({
  id: row.id,
  leader: { wallet: row.leaderWallet, label: row.leaderLabel },
  ownedWallet: { walletId: row.ownedWalletId, family: row.ownedFamily, address: row.ownedAddress },
  status: row.status,
  sizing: {
    mode: row.sizingMode,
    amount: row.sizingAmount,
    ratioPct: row.sizingRatioPct,
    maxPerTrade: row.sizingMax,
    asset: "sol"
  },
  filters: {
    buys: row.copiesBuys,
    sells: row.copiesSells,
    minLeaderUsd: row.minLeaderUsd,
    maxMarketCapUsd: row.maxMarketCapUsd,
    slippageBps: row.slippageBps
  },
  counts: { filled: row.filled, failed: row.failed, skipped: row.skipped },
  lastFillAtMs: row.lastFillAtMs,
  createdAtMs: row.createdAtMs,
  updatedAtMs: row.updatedAtMs,
  stoppedAtMs: row.stoppedAtMs
})

const Progress = Schema.Struct({ followId: Schema.String, generation: Schema.String, filled: Schema.Int })

const digits = (amount: bigint | null): string | null => amount?.toString() ?? null

const columnsOf = ({ accountId, filters, id, leader, ownedWallet, sizing, ...rest }: NewFollow) => ({
  id,
  accountId,
  leaderWallet: leader.wallet,
  leaderLabel: leader.label,
  ownedWalletId: ownedWallet.walletId,
  ownedFamily: ownedWallet.family,
  ownedAddress: ownedWallet.address,
  status: rest.status,
  sizingMode: sizing.mode,
  sizingAmount: digits(sizing.amount),
  sizingRatioPct: sizing.ratioPct,
  sizingMax: digits(sizing.maxPerTrade),
  copiesBuys: filters.buys,
  copiesSells: filters.sells,
  minLeaderUsd: filters.minLeaderUsd,
  maxMarketCapUsd: filters.maxMarketCapUsd,
  slippageBps: filters.slippageBps,
  createdAt: PgTypes.timestamptz(rest.createdAtMs),
  updatedAt: PgTypes.timestamptz(rest.updatedAtMs),
  stoppedAt: rest.stoppedAtMs === null ? null : PgTypes.timestamptz(rest.stoppedAtMs)
})

export const makeFollowTable = (sql: SqlClient.SqlClient) => {
  const shown = sql.literal(COLUMNS)

  /** The follows selected by a condition, which may end with an order and a limit. */
  const found = (condition: Statement.Fragment) =>
    SqlSchema.findAll({
      Request: Schema.Void,
      Result: Row,
      execute: () => sql`select ${shown} from copy_follows where ${condition}`
    })()

  return {
    record: (follow: NewFollow) => {
      const row = columnsOf(follow)
      const { accountId: _account, createdAt: _createdAt, id: _id, ...changes } = row
      return Effect.map(
        sql`
          insert into copy_follows ${sql.insert(row)}
          on conflict (id) do update set ${sql.update(changes)}
          where copy_follows.account_id = excluded.account_id and copy_follows.updated_at < excluded.updated_at
          returning id
        `,
        (rows) => rows.length > 0
      )
    },

    forgetOthers: (accountId: string, kept: ReadonlyArray<string>) => sql`
      delete from copy_follows
      where account_id = ${accountId} and ${kept.length === 0 ? sql`true` : sql`not ${sql.in("id", kept)}`}
    `,

    find: (accountId: string, id: string) =>
      Effect.map(found(sql`id = ${id} and account_id = ${accountId}`), ([row]) =>
        row === undefined ? null : followOf(row)
      ),

    progress: SqlSchema.findAll({
      Request: Schema.String,
      Result: Progress,
      execute: (accountId) => sql`
        select id as follow_id, generation::text, filled::float8 from copy_follows where account_id = ${accountId}
      `
    }),

    page: Effect.fnUntraced(function* ({ accountId, after, limit, status }: FollowSelection) {
      const rest =
        after === null
          ? sql`true`
          : sql`(created_at, id) < (${PgTypes.timestamptz(after.atMs)}, ${after.id}::text collate "C")`
      const rows = yield* found(sql`
        account_id = ${accountId} and ${status === null ? sql`true` : sql`status = ${status}`} and ${rest}
        order by created_at desc, id desc limit ${limit + 1}
      `)
      return sliceOf(rows.map(followOf), limit, followPlace)
    })
  }
}
