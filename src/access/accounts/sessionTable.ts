/** Statements on the table `sessions`, and the messages of the change channel about it. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { ChangeChannel } from "../../storage/ChangeChannel.ts"
import { Plan, SESSION_PLAN } from "../../api/schemas/Plan.ts"
import { type Bound, purgeRows } from "../../storage/purge.ts"
import { PLAN_OF_ROW } from "../planTable.ts"
import type { SessionClosure } from "./SessionStore.ts"

const Row = Schema.Struct({
  secretHash: Schema.String,
  accountId: Schema.String,
  name: Schema.String,
  createdAtMs: Schema.Int,
  lastUsedAtMs: Schema.Int,
  plan: Schema.NullOr(Plan)
})

/** An open session, the name of its account, and the plan `sessions`; null while the table has none. */
export type SessionRow = typeof Row.Type

const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row))

/** Announces an end when its transaction commits. */
export const announceClosure = (channel: ChangeChannel["Service"], { accountId, session }: SessionClosure) =>
  channel.announce("sessions", session === null ? accountId : `${accountId} ${session}`)

/** Ends every session of an account, and announces each end and the end of all. */
export const announceEndOfAll = Effect.fnUntraced(function* ({
  accountId,
  channel,
  nowMs,
  sql
}: {
  readonly sql: SqlClient.SqlClient
  readonly channel: ChangeChannel["Service"]
  readonly accountId: string
  readonly nowMs: number
}) {
  const ended = yield* sql`
    update sessions set ended_at = ${PgTypes.timestamptz(nowMs)}
    where account_id = ${accountId} and ended_at is null returning secret_hash
  `.values
  yield* Effect.forEach(ended, ([session]) => announceClosure(channel, { accountId, session: String(session) }))
  yield* announceClosure(channel, { accountId, session: null })
})

/** Reads the end that a change channel subject names. */
export const closureOf = (subject: string): SessionClosure => {
  const [accountId = "", session = null] = subject.split(" ")
  return { accountId, session }
}

/** How long ended sessions are kept. */
const KEPT_MS = 24 * 60 * 60_000

/** The statements. A session cannot be used after `idleMs` without a request. */
export const makeSessionTable = (sql: SqlClient.SqlClient, idleMs: number) => ({
  /** Adds a session, unless the account has been disabled. */
  insert: (row: { readonly hash: string; readonly accountId: string }, nowMs: number, lifetimeMs: number) => {
    const [now, end] = [PgTypes.timestamptz(nowMs), PgTypes.timestamptz(nowMs + lifetimeMs)]
    return sql`
      insert into sessions (secret_hash, account_id, created_at, last_used_at, expires_at)
      select ${row.hash}, id, ${now}, ${now}, ${end} from accounts
      where id = ${row.accountId} and disabled_at is null for share
    `
  },

  /** The open sessions with these hashes. */
  byHashes: Effect.fnUntraced(function* (hashes: ReadonlyArray<string>, nowMs: number) {
    return yield* decodeRows(
      yield* sql`
        select secret_hash, account_id, accounts.name,
          (extract(epoch from sessions.created_at) * 1000)::float8 as created_at_ms,
          (extract(epoch from last_used_at) * 1000)::float8 as last_used_at_ms, ${sql.literal(PLAN_OF_ROW)}
        from sessions join accounts on accounts.id = account_id
          left join plans on plans.name = ${SESSION_PLAN.name}
        where secret_hash = any(${hashes}::text[]) and accounts.disabled_at is null and ended_at is null
          and expires_at > ${PgTypes.timestamptz(nowMs)}
          and last_used_at > ${PgTypes.timestamptz(nowMs - idleMs)}
      `
    )
  }),

  /** Moves the time of last use forward, never back. */
  markUsed: (hashes: ReadonlyArray<string>, nowMs: number) => sql`
    update sessions set last_used_at = greatest(last_used_at, ${PgTypes.timestamptz(nowMs)})
    where secret_hash = any(${hashes}::text[])
  `,

  /** Ends a session and returns its account; null when it had ended already. */
  end: (hash: string, nowMs: number) =>
    Effect.map(
      sql`
        update sessions set ended_at = ${PgTypes.timestamptz(nowMs)}
        where secret_hash = ${hash} and ended_at is null returning account_id
      `.values,
      ([row]) => (row === undefined ? null : String(row[0]))
    ),

  /** Sessions that ended within the last `lastMs` milliseconds. */
  endedWithin: (lastMs: number, nowMs: number) =>
    Effect.map(
      sql`select account_id, secret_hash from sessions where ended_at > ${PgTypes.timestamptz(nowMs - lastMs)}`.values,
      (rows) => rows.map(([accountId, session]) => ({ accountId: String(accountId), session: String(session) }))
    ),

  /** Deletes what can no longer be used: sessions, links and sign-ins at a provider. */
  sweep: Effect.fnUntraced(function* <Failure>(nowMs: number, bound: Bound<Failure>) {
    const [now, kept] = [PgTypes.timestamptz(nowMs), PgTypes.timestamptz(nowMs - KEPT_MS)]
    const ended = sql`expires_at < ${now} or ended_at < ${kept} or last_used_at < ${PgTypes.timestamptz(nowMs - idleMs)}`
    yield* purgeRows({ sql, bound, table: "sessions", where: ended })
    yield* purgeRows({ sql, bound, table: "sign_in_links", where: sql`expires_at < ${now}` })
    yield* purgeRows({ sql, bound, table: "pending_sign_ins", where: sql`expires_at < ${now}` })
  })
})
