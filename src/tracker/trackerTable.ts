/** Queries of `tracker_accounts`, `tracker_groups`, `tracked_wallets` and `tracked_wallet_groups`. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Option, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import { Address } from "../domain/Address.ts"
import {
  GroupId,
  MAIN_GROUP,
  MAX_GROUPS,
  MAX_TRACKED_WALLETS,
  TooManyGroups,
  TooManyWallets,
  TrackedWallet,
  TrackerGroup,
  type Tracking,
  UnknownGroup,
  UnknownWallet,
  type WalletActivity,
  type WalletChange
} from "../domain/wallets/Tracker.ts"
import type { KeptGroup } from "./overview.ts"

const { walletCount: _walletCount, ...group } = TrackerGroup.fields
const GroupRow = Schema.Struct(group)

const { groupId: _groupId, groups: _groups, status: _status, ...wallet } = TrackedWallet.fields
const WalletRow = Schema.Struct({ ...wallet, groups: Schema.NonEmptyArray(GroupId) })
const WatchRow = Schema.Struct({ wallet: Address, addedAtMs: wallet.addedAtMs })
const RevisionRow = Schema.Struct({ accountId: Schema.String, revision: Schema.String })
const WalletKey = Schema.Struct({ accountId: Schema.String, wallet: Address })

// Exact: a double holds every millisecond that a timestamp can.
const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8 as ${column}_ms`

/** The queries. Writes to an account run in a transaction that begins with `hold`. */
export const makeTrackerTable = (sql: SqlClient.SqlClient) => {
  const groupColumns = sql.literal(`group_id, name, is_main, ${ms("created_at")}`)
  const watchColumns = sql.literal(`wallet, ${ms("added_at")}`)
  const walletColumns = sql.literal(`w.wallet, label, emoji, notes, ${ms("added_at")}, ${ms("last_event_at")}`)

  /** Locks the account until the transaction ends; creates it with its Main group if it is new. */
  const hold = Effect.fnUntraced(function* (accountId: string, nowMs: number) {
    const held = sql`select from tracker_accounts where account_id = ${accountId} for update`
    if ((yield* held).length > 0) {
      return
    }
    yield* sql`
      insert into tracker_accounts (account_id, revision) values (${accountId}, nextval('tracker_revision'))
      on conflict do nothing
    `
    yield* held
    const main = { accountId, groupId: MAIN_GROUP, name: "Main", isMain: true, createdAt: PgTypes.timestamptz(nowMs) }
    yield* sql`insert into tracker_groups ${sql.insert(main)} on conflict do nothing`
  })

  const revised = SqlSchema.findOne({
    Request: Schema.String,
    Result: RevisionRow,
    execute: (accountId) => sql`
      update tracker_accounts set revision = nextval('tracker_revision'), changed_at = now()
      where account_id = ${accountId} returning account_id, revision::text
    `
  })

  /** Marks a held account as changed and returns its new revision. */
  const revise = (accountId: string) =>
    revised(accountId).pipe(
      Effect.catchTag("NoSuchElementError", Effect.die),
      Effect.map(({ revision }) => revision)
    )

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

  const hasGroup = (accountId: string, groupId: GroupId) =>
    Effect.map(
      sql`select from tracker_groups where account_id = ${accountId} and group_id = ${groupId}`,
      (rows) => rows.length > 0
    )

  /** Updates the labels given and returns whether any has changed. */
  const describe = ({ accountId, emoji, label, notes, wallet }: Tracking) => {
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

  return {
    hold,
    revise,

    /** The groups of an account; empty only before its first use. */
    groups: SqlSchema.findAll({
      Request: Schema.String,
      Result: GroupRow,
      execute: (accountId) => sql`select ${groupColumns} from tracker_groups where account_id = ${accountId}`
    }),

    wallets: SqlSchema.findAll({
      Request: Schema.String,
      Result: WalletRow,
      execute: (accountId) => sql`
        select ${walletColumns}, array_agg(g.group_id order by g.seq) as groups
        from tracked_wallets as w join tracked_wallet_groups as g using (account_id, wallet)
        where account_id = ${accountId} group by account_id, w.wallet
      `
    }),

    insertGroup: Effect.fnUntraced(function* (accountId: string, { createdAtMs, ...kept }: KeptGroup) {
      const known = yield* sql`select from tracker_groups where account_id = ${accountId}`
      if (known.length >= MAX_GROUPS) {
        return yield* new TooManyGroups({ limit: MAX_GROUPS })
      }
      yield* sql`
        insert into tracker_groups ${sql.insert({ accountId, ...kept, createdAt: PgTypes.timestamptz(createdAtMs) })}
      `
    }),

    /** Null for an unknown group, false when it has the name already. */
    renameGroup: Effect.fnUntraced(function* (accountId: string, groupId: GroupId, name: string) {
      if (!(yield* hasGroup(accountId, groupId))) {
        return null
      }
      const renamed = yield* sql`
        update tracker_groups set name = ${name}
        where account_id = ${accountId} and group_id = ${groupId} and name <> ${name} returning group_id
      `
      return renamed.length > 0
    }),

    /** Moves the wallets that are in this group alone to Main, and deletes the group. */
    removeGroup: Effect.fnUntraced(function* (accountId: string, groupId: GroupId) {
      yield* sql`
        insert into tracked_wallet_groups (account_id, wallet, group_id)
        select account_id, wallet, ${MAIN_GROUP} from tracked_wallet_groups as g
        where account_id = ${accountId} and group_id = ${groupId} and not exists (
          select from tracked_wallet_groups as o
          where o.account_id = g.account_id and o.wallet = g.wallet and o.group_id <> ${groupId}
        )
      `
      yield* sql`delete from tracked_wallet_groups where account_id = ${accountId} and group_id = ${groupId}`
      const gone = yield* sql`
        delete from tracker_groups where account_id = ${accountId} and group_id = ${groupId} returning group_id
      `
      return gone.length > 0
    }),

    /** Replaces the texts and groups given. The row order of groups is that of the list: the first is the primary one. */
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
        if (!(yield* hasGroup(accountId, groupId))) {
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
      if (!(yield* hasGroup(accountId, groupId))) {
        return yield* new UnknownGroup({ groupId })
      }
      const tracked = yield* watchOf({ accountId, wallet })
      if (Option.isNone(tracked)) {
        yield* checkLimit(accountId, walletLimit)
        const row = { accountId, wallet, label, emoji, notes, addedAt: PgTypes.timestamptz(nowMs) }
        yield* sql`insert into tracked_wallets ${sql.insert(row)}`
      }
      const isDescribed = yield* describe(tracking)
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
    })(),

    /** Accounts changed within the last `lastMs` of the server's clock, with their current revision. */
    changedWithin: SqlSchema.findAll({
      Request: Schema.Finite,
      Result: RevisionRow,
      execute: (lastMs) => sql`
        select account_id, revision::text from tracker_accounts
        where changed_at > now() - ${lastMs}::float8 * interval '1 millisecond'
      `
    })
  }
}
