/** Sessions in Postgres. Look-ups are shared and bounded like those of keys; none is cached, so an end is immediate. */
import { PgTypes } from "@effect/sql-pg"
import { Clock, Config, Duration, Effect, Layer, type Redacted, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { makeKeyLookup } from "../access/keyLookup.ts"
import { AccountStoreUnavailable, SessionEnded } from "../domain/Account.ts"
import { type ApiKey, ApiScope, KeyStoreUnavailable } from "../domain/ApiKey.ts"
import { DEFAULT_PLAN } from "../domain/Plan.ts"
import { SecretSource } from "../domain/randomText.ts"
import { keepGoing, keepRunning } from "../health/keepRunning.ts"
import { bounded } from "../storage/deadline.ts"
import { hashOf, isWellFormed, makeSecret } from "./secrets.ts"
import { sessionId, SessionStore } from "./SessionStore.ts"

/** On the path of a request, which has half a second to fail in. */
const REQUEST_DEADLINE = Duration.millis(400)
const CHANGE_DEADLINE = Duration.seconds(2)
/** The time of last use is stored this often at most. */
const MARK_EVERY_MS = 60_000
const SWEEP_EVERY = Duration.minutes(10)

/** `SESSION_IDLE` (12 hours) and `SESSION_LIFETIME` (30 days). */
export const settings = Config.all({
  idle: Config.Duration("SESSION_IDLE").pipe(Config.withDefault(Duration.hours(12))),
  lifetime: Config.Duration("SESSION_LIFETIME").pipe(Config.withDefault(Duration.days(30)))
})

const Row = Schema.Struct({
  secretHash: Schema.String,
  accountId: Schema.String,
  name: Schema.String,
  createdAtMs: Schema.Int,
  lastUsedAtMs: Schema.Int
})
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row))

/** The session as a credential. */
const credentialOf = ({ accountId, createdAtMs, lastUsedAtMs, name }: typeof Row.Type): ApiKey => ({
  id: sessionId(accountId),
  accountId,
  name,
  prefix: "",
  lastFour: "",
  scopes: ApiScope.literals,
  ipPolicy: null,
  plan: DEFAULT_PLAN,
  createdAtMs,
  lastUsedAtMs,
  expiresAtMs: null,
  replacedBy: null,
  disabledAtMs: null,
  revokedAtMs: null
})

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecretSource
  const { idle, lifetime } = yield* settings
  const changed = bounded(CHANGE_DEADLINE, (cause) => new AccountStoreUnavailable({ cause }))

  const byHashes = Effect.fnUntraced(function* (hashes: ReadonlyArray<string>) {
    const nowMs = yield* Clock.currentTimeMillis
    const rows = yield* decodeRows(
      yield* sql`
        select secret_hash, account_id, accounts.name,
          (extract(epoch from sessions.created_at) * 1000)::float8 as created_at_ms,
          (extract(epoch from last_used_at) * 1000)::float8 as last_used_at_ms
        from sessions join accounts on accounts.id = account_id
        where secret_hash = any(${hashes}::text[]) and accounts.disabled_at is null
          and expires_at > ${PgTypes.timestamptz(nowMs)}
          and last_used_at > ${PgTypes.timestamptz(nowMs - Duration.toMillis(idle))}
      `
    )
    const stale = rows.filter(({ lastUsedAtMs }) => lastUsedAtMs < nowMs - MARK_EVERY_MS)
    if (stale.length > 0) {
      const marked = stale.map(({ secretHash }) => secretHash)
      yield* sql`
        update sessions set last_used_at = greatest(last_used_at, ${PgTypes.timestamptz(nowMs)})
        where secret_hash = any(${marked}::text[])
      `
    }
    return new Map(rows.map((row) => [row.secretHash, credentialOf(row)]))
  })

  const read = yield* makeKeyLookup({
    cache: { version: 0, remember: () => undefined },
    cached: () => undefined,
    byHashes: (hashes) => bounded(REQUEST_DEADLINE, (cause) => new KeyStoreUnavailable({ cause }))(byHashes(hashes))
  })

  const sweep = Effect.flatMap(
    Clock.currentTimeMillis,
    (nowMs) => sql`delete from sessions where expires_at < ${PgTypes.timestamptz(nowMs)}`
  )
  yield* changed(sweep).pipe(
    keepGoing("Removing sessions that have ended"),
    Effect.schedule(Schedule.spaced(SWEEP_EVERY)),
    keepRunning("Removing sessions that have ended"),
    Effect.forkScoped
  )

  return SessionStore.of({
    lifetimeSeconds: Math.floor(Duration.toSeconds(lifetime)),
    open: Effect.fn("SessionStore.open")(function* (accountId: string) {
      const nowMs = yield* Clock.currentTimeMillis
      const secret = makeSecret(random)
      const now = PgTypes.timestamptz(nowMs)
      const expiresAt = PgTypes.timestamptz(nowMs + Duration.toMillis(lifetime))
      const row = { secretHash: hashOf(secret), accountId, createdAt: now, lastUsedAt: now, expiresAt }
      yield* changed(sql`insert into sessions ${sql.insert(row)}`)
      return secret
    }),
    authenticate: Effect.fnUntraced(function* (secret: Redacted.Redacted) {
      if (!isWellFormed(secret)) {
        return yield* new SessionEnded()
      }
      const found = yield* read(hashOf(secret)).pipe(
        Effect.catchTag("KeyStoreUnavailable", ({ cause }) => Effect.fail(new AccountStoreUnavailable({ cause })))
      )
      return found ?? (yield* new SessionEnded())
    }),
    end: (secret) => Effect.asVoid(changed(sql`delete from sessions where secret_hash = ${hashOf(secret)}`)),
    endAll: (accountId) => Effect.asVoid(changed(sql`delete from sessions where account_id = ${accountId}`))
  })
})

/** Sessions in the table `sessions`. */
export const layer: Layer.Layer<SessionStore, Config.ConfigError, SqlClient.SqlClient> = Layer.effect(
  SessionStore,
  make
)
