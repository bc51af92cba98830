/**
 * Sessions in Postgres. Look-ups are batched and bounded like the look-ups of keys. No session is cached, so an end is
 * immediate.
 */
import { Clock, Config, Duration, Effect, Layer, PubSub, type Redacted, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { type End, Ended } from "../Ended.ts"
import { makeKeyLookup } from "../keyLookup.ts"
import { AccountStoreUnavailable, SessionEnded } from "../../api/schemas/Account.ts"
import { type ApiKey, ApiScope, KeyStoreUnavailable } from "../../api/schemas/ApiKey.ts"
import { durationSetting } from "../../domain/countSetting.ts"
import { SESSION_PLAN } from "../../api/schemas/Plan.ts"
import { SecretSource } from "../../domain/randomText.ts"
import { ChangeChannel, LOOK_BACK_MS } from "../../storage/ChangeChannel.ts"
import { bounded } from "../../storage/deadline.ts"
import { cleanUp } from "../../storage/purge.ts"
import { transaction } from "../../storage/transaction.ts"
import { hashOf, isWellFormed, makeSecret } from "./secrets.ts"
import { type SessionClosure, sessionId, SessionStore } from "./SessionStore.ts"
import { announceClosure, announceEndOfAll, closureOf, makeSessionTable, type SessionRow } from "./sessionTable.ts"

/** Deadline of a request's query. The request itself fails after half a second. */
const REQUEST_DEADLINE = Duration.millis(400)
const CHANGE_DEADLINE = Duration.seconds(2)
/** The time of last use is stored at most this often. */
const MARK_EVERY_MS = 60_000
const SWEEP_EVERY = Duration.minutes(10)

/** `SESSION_IDLE` (12 hours) and `SESSION_LIFETIME` (30 days). */
export const settings = Config.all({
  idle: durationSetting("SESSION_IDLE").pipe(Config.withDefault(Duration.hours(12))),
  lifetime: durationSetting("SESSION_LIFETIME").pipe(Config.withDefault(Duration.days(30)))
})

/** The session as a credential. */
const credentialOf = ({ accountId, createdAtMs, lastUsedAtMs, name, plan }: SessionRow): ApiKey => ({
  id: sessionId(accountId),
  accountId,
  name,
  prefix: "",
  lastFour: "",
  scopes: ApiScope.literals,
  ipPolicy: null,
  plan: plan ?? SESSION_PLAN,
  createdAtMs,
  lastUsedAtMs,
  expiresAtMs: null,
  replacedBy: null,
  disabledAtMs: null,
  revokedAtMs: null
})

/** The ends of single sessions among these closures. */
const endsOf = (closures: ReadonlyArray<SessionClosure>, atMs: number): ReadonlyArray<End> =>
  closures.flatMap(({ session }) => (session === null ? [] : [{ kind: "session", id: session, atMs }]))

/** Leaves out sessions that are known to have ended although the database calls them open. */
const stillOpen = Effect.fnUntraced(function* (rows: ReadonlyArray<SessionRow>) {
  const { times } = yield* Ended
  const ends = yield* times(rows.map(({ secretHash }) => ({ kind: "session", id: secretHash })))
  return rows.filter((_, i) => (ends[i] ?? null) === null)
})

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const channel = yield* ChangeChannel
  const random = yield* SecretSource
  const { idle, lifetime } = yield* settings
  const table = makeSessionTable(sql, Duration.toMillis(idle))
  const changed = bounded(CHANGE_DEADLINE, (cause) => new AccountStoreUnavailable({ cause }))
  const closed = yield* PubSub.unbounded<SessionClosure>()
  const now = Clock.currentTimeMillis
  const clock = yield* Clock.Clock
  const ended = yield* Ended
  /**
   * Every process records the ends that it learns of: the process that ended a session may be gone, or may use another
   * store of ends.
   */
  const noteAll = (closures: ReadonlyArray<SessionClosure>, atMs: number) =>
    Effect.forEach(endsOf(closures, atMs), ended.note, { discard: true, concurrency: 16 })
  const openRows = (hashes: ReadonlyArray<string>, nowMs: number) =>
    Effect.provideService(Effect.flatMap(table.byHashes(hashes, nowMs), stillOpen), Ended, ended)

  yield* channel.subscribe("sessions", {
    onChange: (subject) => {
      const closure = closureOf(subject)
      PubSub.publishUnsafe(closed, closure)
      Effect.runFork(noteAll([closure], clock.currentTimeMillisUnsafe()))
    },
    onConnected: Effect.fnUntraced(function* (gapMs) {
      const missed = gapMs === null ? [] : yield* table.endedWithin(gapMs + LOOK_BACK_MS, yield* now)
      yield* PubSub.publishAll(closed, missed)
      yield* noteAll(missed, yield* now)
    })
  })

  const byHashes = Effect.fnUntraced(function* (hashes: ReadonlyArray<string>) {
    const nowMs = yield* now
    const rows = yield* openRows(hashes, nowMs)
    const stale = rows.filter(({ lastUsedAtMs }) => lastUsedAtMs < nowMs - MARK_EVERY_MS)
    if (stale.length > 0) {
      yield* table.markUsed(
        stale.map(({ secretHash }) => secretHash),
        nowMs
      )
    }
    return new Map(rows.map((row) => [row.secretHash, credentialOf(row)]))
  })

  const read = yield* makeKeyLookup({
    cache: { version: 0, remember: () => undefined },
    cached: () => undefined,
    byHashes: (hashes) => bounded(REQUEST_DEADLINE, (cause) => new KeyStoreUnavailable({ cause }))(byHashes(hashes))
  })

  yield* cleanUp(
    "Removing sessions, links and sign-ins that have ended",
    SWEEP_EVERY,
    Effect.flatMap(now, (nowMs) => table.sweep(nowMs, changed))
  )

  const open = Effect.fn("SessionStore.open")(function* (accountId: string) {
    const secret = makeSecret(random)
    yield* changed(table.insert({ hash: hashOf(secret), accountId }, yield* now, Duration.toMillis(lifetime)))
    return secret
  })

  const authenticate = Effect.fnUntraced(function* (secret: Redacted.Redacted) {
    if (!isWellFormed(secret)) {
      return yield* new SessionEnded()
    }
    const found = yield* read(hashOf(secret)).pipe(
      Effect.catchTag("KeyStoreUnavailable", ({ cause }) => Effect.fail(new AccountStoreUnavailable({ cause })))
    )
    return found ?? (yield* new SessionEnded())
  })

  const endOne = Effect.fnUntraced(function* (session: string) {
    const accountId = yield* table.end(session, yield* now)
    return accountId === null ? undefined : yield* announceClosure(channel, { accountId, session })
  })

  const endAll = (accountId: string) =>
    Effect.flatMap(now, (nowMs) => announceEndOfAll({ sql, channel, accountId, nowMs }))

  return SessionStore.of({
    lifetimeSeconds: Math.floor(Duration.toSeconds(lifetime)),
    open,
    authenticate,
    end: (secret) =>
      Effect.andThen(
        changed(transaction(sql, endOne(hashOf(secret)))),
        Effect.flatMap(now, (atMs) => ended.note({ kind: "session", id: hashOf(secret), atMs }))
      ),
    endAll: (accountId) => changed(transaction(sql, endAll(accountId))),
    isOpen: (session) =>
      changed(Effect.flatMap(now, (nowMs) => openRows([session], nowMs))).pipe(Effect.map((rows) => rows.length > 0)),
    closures: Stream.fromPubSub(closed)
  })
})

/** Sessions in the table `sessions`. */
export const layer: Layer.Layer<SessionStore, Config.ConfigError, SqlClient.SqlClient | ChangeChannel> = Layer.effect(
  SessionStore,
  make
)
