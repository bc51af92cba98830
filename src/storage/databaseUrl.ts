/**
 * Checks the server in `DATABASE_URL`. The start waits while the server comes up, and fails with the server's name
 * when it cannot be used.
 */
import { PgConnection } from "@effect/sql-pg"
import { Duration, Effect, Predicate, Redacted, Schedule, Schema } from "effect"
import { SqlError } from "effect/sql"
import { within } from "./deadline.ts"

/** The server in `DATABASE_URL` cannot be used. */
export class DatabaseUnusable extends Schema.TaggedError<DatabaseUnusable>()("DatabaseUnusable", {
  /** Host and port, or the folder of the socket, never a credential. Null when the URL cannot be read. */
  target: Schema.NullOr(Schema.String),
  detail: Schema.String
}) {
  override get message(): string {
    return this.target === null
      ? `DATABASE_URL: ${this.detail}`
      : `DATABASE_URL: the database at ${this.target} cannot be used: ${this.detail}`
  }
}

/** The oldest server version that supports our queries, as `server_version_num`. */
const OLDEST = 150_000
const RETRY_EVERY = "250 millis"
const NOTICE_AFTER = "1 second"

/**
 * Error codes of a server that may still be starting: refused and lost connections, a missing socket, a name service
 * that does not answer yet, `cannot_connect_now` and `too_many_connections`.
 */
const TRANSIENT = /^(?:ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|57P03|53300)$/u

const codeOf = (cause: unknown): string | null =>
  Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : null

/** Host and port of a URL, or the folder of a socket. Null when the URL does not name a PostgreSQL server. */
export const targetOf = (url: Redacted.Redacted): string | null => {
  const parsed = URL.parse(Redacted.value(url))
  if (parsed === null || !/^postgres(?:ql)?:$/u.test(parsed.protocol)) {
    return null
  }
  const host = parsed.searchParams.get("host") ?? parsed.hostname
  const port = parsed.port === "" ? "5432" : parsed.port
  return host.startsWith("/") ? host : `${host === "" ? "localhost" : host}:${port}`
}

/** Code and text of a connection error; null when it has neither. */
const reasonOf = ({ reason }: SqlError.SqlError): { readonly code: string | null; readonly text: string } => {
  const { cause } = reason
  const code = codeOf(cause)
  const text = cause instanceof Error && cause.message !== "" ? cause.message : reason.message
  return { code, text: code === null || text.includes(code) ? text : `${text} (${code})` }
}

const isTransient = (error: SqlError.SqlError): boolean => {
  const { code, text } = reasonOf(error)
  return code === null ? /timed? ?out/iu.test(text) : TRANSIENT.test(code)
}

/** True when a connection could not be opened or has ended, whether this is the failure itself or its cause. */
const isUnreached = (failure: unknown): boolean =>
  SqlError.isSqlError(failure)
    ? failure.reason._tag === "ConnectionError" || isTransient(failure)
    : Predicate.hasProperty(failure, "cause") && isUnreached(failure.cause)

/**
 * Runs a step of the start. Tries it again when a connection could not be opened or has ended, for up to `limit` after the
 * first failure: on a busy machine a server that has just answered may be late for the next connection.
 */
export const untilReached =
  (limit: Duration.Duration) =>
  <A, E, R>(step: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.retry(step, {
      while: (failure) => !Duration.isZero(limit) && isUnreached(failure),
      schedule: Schedule.spaced(RETRY_EVERY).pipe(Schedule.upTo({ duration: limit }))
    })

/** Opens one connection and reads the server's version. */
const versionOf = (url: Redacted.Redacted, connectTimeout: Duration.Duration) =>
  Effect.scoped(
    Effect.gen(function* () {
      const connection = yield* PgConnection.make({ url, connectTimeout })
      const { rows } = yield* connection.query("show server_version_num", [])
      return Number(Object.values(rows[0] ?? {})[0])
    })
  )

/**
 * Waits up to `limit` for a server that refuses connections or is starting, and logs that it waits. Fails at once for
 * anything else: a malformed URL, an unknown host, a rejected password, a missing database, a server older than 15.
 */
export const awaitServer = Effect.fn("databaseUrl.awaitServer")(function* (options: {
  readonly url: Redacted.Redacted
  readonly connectTimeout: Duration.Duration
  readonly limit: Duration.Duration
}) {
  const { connectTimeout, limit, url } = options
  const target = targetOf(url)
  if (target === null) {
    return yield* new DatabaseUnusable({ target, detail: "expected postgres://USER:PASSWORD@HOST:PORT/DATABASE" })
  }
  let reason = "it did not answer"
  let isNoticed = false
  const notice = Effect.suspend(() => {
    const isFirst = !isNoticed
    isNoticed = true
    return isFirst
      ? Effect.logWarning(
          `The database at ${target} (DATABASE_URL) is not reachable yet: ${reason}. Waiting for up to ${Duration.format(limit)}.`
        )
      : Effect.void
  })
  const waits = !Duration.isZero(limit)
  const version = versionOf(url, connectTimeout).pipe(
    Effect.tapError((error) => {
      reason = reasonOf(error).text
      return waits && isTransient(error) ? notice : Effect.void
    }),
    Effect.retry({ while: (error) => waits && isTransient(error), schedule: Schedule.spaced(RETRY_EVERY) }),
    Effect.mapError((error) => new DatabaseUnusable({ target, detail: reasonOf(error).text })),
    within(
      Duration.max(limit, connectTimeout),
      () => new DatabaseUnusable({ target, detail: `${reason}, within ${Duration.format(limit)}` })
    )
  )
  const found = yield* Effect.raceFirst(version, Effect.andThen(Effect.delay(notice, NOTICE_AFTER), Effect.never))
  if (found < OLDEST) {
    const major = Math.floor(found / 10_000)
    return yield* new DatabaseUnusable({ target, detail: `it is PostgreSQL ${major}, 15 or newer is needed` })
  }
})
