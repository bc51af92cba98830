/** Queries of `tracked_wallets` and `tracked_wallet_groups`. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Option, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import { Address } from "../../domain/Address.ts"
import {
  GroupId,
  MAX_TRACKED_WALLETS,
  TooManyWallets,
  TrackedWallet,
  type Tracking,
  UnknownGroup,
  UnknownWallet,
  type WalletActivity,
  type WalletChange
} from "../../api/schemas/Tracker.ts"
import { hasGroup, ms } from "./trackerAccountTable.ts"

const { groupId: _groupId, groups: _groups, status: _status, ...wallet } = TrackedWallet.fields
const WalletRow = Schema.Struct({ ...wallet, groups: Schema.NonEmptyArray(GroupId) })
const WatchRow = Schema.Struct({ wallet: Address, addedAtMs: wallet.addedAtMs })
const WalletKey = Schema.Struct({ accountId: Schema.String, wallet: Address })

/** Updates the given labels and returns whether any has changed. */
const describe = (sql: SqlClient.SqlClient, { accountId, emoji, label, notes, wallet }: Tracking) => {
  const texts = sql`coalesce(${label ?? null}::text, label) as label, coalesce(${emoji ?? null}::text, emoji) as emoji,
    coalesce(${notes ?? null}::text, notes) as notes`
  return Effect.map(
    sql`
      update tracked_wallets as w set label = given.label, emoji = given.emoji, notes = given.notes
      from (
        select ${texts} from tracked_wallets where account_id = ${accountId} and wallet = ${wallet}
      ) as given
      where account_id = ${accountId} and wallet = ${wallet}
        and (w.label, w.emoji, w.notes) is distinct from (given.label, given.emoji, given.notes)
      returning wallet
    `,
    (rows) => rows.length > 0
  )
}

/** The queries. Writes run in a transaction that holds the account. */
export const makeTrackedWalletTable = (sql: SqlClient.SqlClient) => {
  const watchColumns = sql.literal(`wallet, ${ms("added_at")}`)
  const walletColumns = sql.literal(`w.wallet, label, emoji, notes, ${ms("added_at")}, ${ms("last_event_at")}`)

  const watchOf = SqlSchema.findOneOption({
    Request: WalletKey,
    Result: WatchRow,
    execute: ({ accountId, wallet }) =>
      sql`select ${watchColumns} from tracked_wallets where account_id = ${accountId} and wallet = ${wallet}`
  })

  const checkLimit = Effect.fnUntraced(function* (accountId: string, limit: number) {
    const tracked = yield* sql`select from tracked_wallets where account_id = ${accountId}`
    if (tracked.length >= limit) {
      return yield* new TooManyWallets({ limit })
    }
  })

  return {
    wallets: SqlSchema.findAll({
      Request: Schema.String,
      Result: WalletRow,
      execute: (accountId) => sql`
        select ${walletColumns}, array_agg(g.group_id order by g.seq) as groups
        from tracked_wallets as w join tracked_wallet_groups as g using (account_id, wallet)
        where account_id = ${accountId} group by account_id, w.wallet
      `
    }),

    /**
     * Replaces the given texts and groups. Rows of groups keep the order of the list: the first is the primary group.
     */
    change: Effect.fnUntraced(function* ({ accountId, emoji, groups, label, notes, wallet }: WalletChange) {
      const texts = [
        ...(label === undefined ? [] : [sql`label = ${label}`]),
        ...(emoji === undefined ? [] : [sql`emoji = ${emoji}`]),
        ...(notes === undefined ? [] : [sql`notes = ${notes}`])
      ]
      if (Option.isNone(yield* watchOf({ accountId, wallet }))) {
        return yield* new UnknownWallet({ wallet })
      }
      if (texts.length > 0) {
        yield* sql`
          update tracked_wallets set ${sql.csv(texts)} where account_id = ${accountId} and wallet = ${wallet}
        `
      }
      for (const groupId of groups ?? []) {
        if (!(yield* hasGroup(sql, accountId, groupId))) {
          return yield* new UnknownGroup({ groupId })
        }
      }
      if (groups !== undefined) {
        yield* sql`delete from tracked_wallet_groups where account_id = ${accountId} and wallet = ${wallet}`
      }
      for (const groupId of groups ?? []) {
        yield* sql`insert into tracked_wallet_groups ${sql.insert({ accountId, wallet, groupId })}`
      }
    }),

    /** Adds or updates a wallet. Returns whether it is new in the group, whether anything changed, and its start of tracking. */
    put: Effect.fnUntraced(function* (tracking: Tracking, groupId: GroupId, nowMs: number) {
      const {
        accountId,
        emoji = null,
        label = null,
        notes = null,
        wallet,
        walletLimit = MAX_TRACKED_WALLETS
      } = tracking
      if (!(yield* hasGroup(sql, accountId, groupId))) {
        return yield* new UnknownGroup({ groupId })
      }
      const tracked = yield* watchOf({ accountId, wallet })
      if (Option.isNone(tracked)) {
        yield* checkLimit(accountId, walletLimit)
        const row = { accountId, wallet, label, emoji, notes, addedAt: PgTypes.timestamptz(nowMs) }
        yield* sql`insert into tracked_wallets ${sql.insert(row)}`
      }
      const isDescribed = yield* describe(sql, tracking)
      const joined = yield* sql`
        insert into tracked_wallet_groups ${sql.insert({ accountId, wallet, groupId })}
        on conflict do nothing returning seq
      `
      const isNew = joined.length > 0
      return {
        isNew,
        isChanged: isNew || isDescribed,
        addedAtMs: Option.isSome(tracked) ? tracked.value.addedAtMs : nowMs
      }
    }),

    takeOut: (accountId: string, wallet: Address) =>
      Effect.map(
        sql`delete from tracked_wallets where account_id = ${accountId} and wallet = ${wallet} returning wallet`,
        (rows) => rows.length > 0
      ),

    /** Block times are whole seconds, so activity in the second of the addition is included. */
    recordActivity: (batch: ReadonlyArray<WalletActivity>) =>
      sql`
        update tracked_wallets as w set last_event_at = activity.at
        from unnest(
          ${batch.map(({ wallet }) => wallet)}::text[], ${batch.map(({ atMs }) => new Date(atMs))}::timestamptz[]
        ) as activity (wallet, at)
        where w.wallet = activity.wallet and activity.at >= date_trunc('second', added_at)
          and (last_event_at is null or last_event_at < activity.at)
      `,

    /** Every tracked wallet, once per account. */
    watched: SqlSchema.findAll({
      Request: Schema.Void,
      Result: WatchRow,
      execute: () => sql`select ${watchColumns} from tracked_wallets`
    })()
  }
}
