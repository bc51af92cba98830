/** Queries of `tracker_accounts` and `tracker_groups`. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import { type GroupId, MAIN_GROUP, MAX_GROUPS, TooManyGroups, TrackerGroup } from "../../api/schemas/Tracker.ts"
import type { KeptGroup } from "./overview.ts"

const { walletCount: _walletCount, ...group } = TrackerGroup.fields
const GroupRow = Schema.Struct(group)

const RevisionRow = Schema.Struct({ accountId: Schema.String, revision: Schema.String })

/** A timestamp as milliseconds. Exact: a double holds every millisecond that a timestamp can. */
export const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8 as ${column}_ms`

/** True when the account has the group. */
export const hasGroup = (sql: SqlClient.SqlClient, accountId: string, groupId: GroupId) =>
  Effect.map(
    sql`select from tracker_groups where account_id = ${accountId} and group_id = ${groupId}`,
    (rows) => rows.length > 0
  )

/** The queries. Writes to an account run in a transaction that begins with `hold`. */
export const makeTrackerAccountTable = (sql: SqlClient.SqlClient) => {
  const groupColumns = sql.literal(`group_id, name, is_main, ${ms("created_at")}`)

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

  return {
    hold,
    revise,

    /** The groups of an account; empty only before its first use. */
    groups: SqlSchema.findAll({
      Request: Schema.String,
      Result: GroupRow,
      execute: (accountId) => sql`select ${groupColumns} from tracker_groups where account_id = ${accountId}`
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

    /** Null for an unknown group, false when the group already has the name. */
    renameGroup: Effect.fnUntraced(function* (accountId: string, groupId: GroupId, name: string) {
      if (!(yield* hasGroup(sql, accountId, groupId))) {
        return null
      }
      const renamed = yield* sql`
        update tracker_groups set name = ${name}
        where account_id = ${accountId} and group_id = ${groupId} and name <> ${name} returning group_id
      `
      return renamed.length > 0
    }),

    /** Moves wallets that are only in this group to Main, and deletes the group. */
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
