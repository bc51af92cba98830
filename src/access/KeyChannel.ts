/** Changes of keys, heard from every process over LISTEN and NOTIFY, and the proof that nothing goes unheard. */
import { PgClient, PgConnection } from "@effect/sql-pg"
import { Clock, Effect, Exit, Queue, Scope } from "effect"
import type { SqlError } from "effect/sql"
import { KeyStoreUnavailable } from "../domain/ApiKey.ts"
import { within } from "../storage/deadline.ts"
import { makeId, SecretSource } from "./keyFormat.ts"

const CHANNEL = "fathom_keys"
const BEAT_EVERY_MS = 250
const CONNECT_TIMEOUT_MS = 2000
const BEAT_TIMEOUT_MS = 500
const RETRY_EVERY_MS = 250
/** How long a beat vouches for the channel: a beat may come late, three may not. */
const PROVEN_FOR_MS = 750

const inTime = within(BEAT_TIMEOUT_MS, (cause) => new KeyStoreUnavailable({ cause }))

/** What the owner of the channel does with what is heard. */
export interface KeyChannelHandlers {
  /** Some process, perhaps this one, has changed the key. */
  readonly onChange: (id: string, isOpen: boolean) => void
  /** The channel is up. Changes of the last `gapMs` milliseconds may have gone unheard; null when it was never up before. */
  readonly onConnected: (gapMs: number | null) => Effect.Effect<void, unknown>
}

interface KeyChannel {
  /** Whether every change that was committed before the last three quarters of a second has been heard. */
  readonly isProven: () => boolean
  /** Tells every process. Inside a transaction it takes effect with the commit. */
  readonly announce: (id: string, isOpen: boolean) => Effect.Effect<void, SqlError.SqlError>
}

/**
 * Listens until the scope closes, and connects again when it has to. Every quarter of a second it sends itself a beat:
 * the server delivers in order of commit, so hearing one proves that all before it were heard.
 */
export const makeKeyChannel = Effect.fnUntraced(function* (handlers: KeyChannelHandlers) {
  const sql = yield* PgClient.PgClient
  const clock = yield* Clock.Clock
  const self = makeId(yield* SecretSource)
  const nowMs = () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
  let isUp = false
  let isReported = false
  let provenAtMs: number | null = null

  const hear = (payload: string): void => {
    const [sender, word, subject = ""] = payload.split(" ")
    if (word !== "beat") {
      handlers.onChange(subject, word === "open")
    } else if (sender === self) {
      provenAtMs = Number(subject)
    }
  }

  const session = Effect.scoped(
    Effect.gen(function* () {
      // Closed after the connection: UNLISTEN on a connection that does not answer would never end.
      const listening = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
      const connection = yield* PgConnection.make({ ...sql.config, connectTimeout: CONNECT_TIMEOUT_MS })
      const pinned = yield* Scope.provide(connection.pin, listening)
      const heard = yield* inTime(Scope.provide(pinned.listen(CHANNEL), listening))
      yield* inTime(handlers.onConnected(provenAtMs === null ? null : nowMs() - provenAtMs))
      isUp = true
      isReported = false
      const beat = Effect.suspend(() =>
        pinned.query("select pg_notify($1, $2)", [CHANNEL, `${self} beat ${nowMs()}`]).pipe(inTime)
      )
      yield* Effect.raceFirst(
        Effect.forever(Effect.map(Queue.take(heard), ({ payload }) => hear(payload))),
        Effect.forever(Effect.andThen(beat, Effect.sleep(BEAT_EVERY_MS)))
      )
    })
  )

  // One line for each time the channel goes down, however often it is tried again.
  const down = (exit: Exit.Exit<unknown, unknown>) => {
    const isNews = !isReported
    isUp = false
    isReported = true
    return isNews && Exit.isFailure(exit)
      ? Effect.logWarning("Changes of keys go unheard: every key is read from the database", exit.cause)
      : Effect.void
  }
  yield* Effect.exit(session).pipe(
    Effect.flatMap(down),
    Effect.andThen(Effect.sleep(RETRY_EVERY_MS)),
    Effect.forever,
    Effect.forkScoped
  )

  const channel: KeyChannel = {
    isProven: () => isUp && provenAtMs !== null && nowMs() - provenAtMs < PROVEN_FOR_MS,
    announce: (id, isOpen) =>
      Effect.asVoid(sql`select pg_notify(${CHANNEL}, ${`${self} ${isOpen ? "open" : "closed"} ${id}`})`)
  }
  return channel
})
