/**
 * Elects one leader among the processes that share a database: the process that holds an advisory lock of PostgreSQL.
 */
import { PgClient, PgConnection } from "@effect/sql-pg"
import { Duration, Effect, Schedule, Schema } from "effect"
import { within } from "./deadline.ts"
import { sessionConfig } from "./directUrl.ts"

/** The session that holds the lock has ended or does not answer. */
export class LeadershipLost extends Schema.TaggedError<LeadershipLost>()("LeadershipLost", {
  cause: Schema.Defect()
}) {}

/** Names an advisory lock and its timing. */
export interface LeaderLock {
  /** Each task with a leader has its own key. */
  readonly key: number
  /**
   * The server ends a session that is silent for this long, so a process that is suspended stops leading. Shorter
   * pauses cost nothing. The process may go on for a moment after its session has ended, so its writes must be
   * refused by a term or a compare-and-append.
   */
  readonly silenceMs: number
}

const BEAT_EVERY = Duration.millis(250)
/** A beat must be answered within this time, or within `silenceMs` if that is longer. */
const BEAT_TIMEOUT_MS = 2000
const CONNECT_TIMEOUT_MS = 2000

const lost = (cause: unknown) => new LeadershipLost({ cause })

/**
 * Waits until this process holds the lock, then runs the effect. Ends with the effect, or fails when the lock is
 * lost. Releases the lock either way. The lock has its own connection.
 */
export const whileLeading = Effect.fnUntraced(function* <A, E, R>(
  { key, silenceMs }: LeaderLock,
  lead: Effect.Effect<A, E, R>
) {
  const beatTimeout = Duration.millis(Math.max(BEAT_TIMEOUT_MS, silenceMs))
  const sql = yield* PgClient.PgClient
  const config = yield* sessionConfig(sql)
  const connection = yield* Effect.mapError(
    PgConnection.make({ ...config, connectTimeout: CONNECT_TIMEOUT_MS, applicationName: "fathom-leader" }),
    lost
  )
  const ask = (text: string, ...values: ReadonlyArray<unknown>) =>
    Effect.mapError(within(beatTimeout, lost)(connection.query(text, values)), lost)
  yield* ask(`set idle_session_timeout = ${silenceMs}`)
  yield* ask("select pg_try_advisory_lock($1::bigint) as is_held", key).pipe(
    Effect.repeat({ until: ({ rows }) => rows[0]?.["is_held"] === true, schedule: Schedule.spaced(BEAT_EVERY) })
  )
  const beat = Effect.repeat(ask("select 1"), Schedule.spaced(BEAT_EVERY))
  return yield* Effect.raceFirst(lead, Effect.andThen(beat, Effect.never))
}, Effect.scoped)
