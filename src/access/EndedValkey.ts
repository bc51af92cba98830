/** Keeps ends of keys, sessions and links in Valkey for as long as PostgreSQL may fall back to an older copy. */
import { Duration, Effect, Layer, Schedule } from "effect"
import { withinTurns } from "../domain/loopTime.ts"
import { keepRunning } from "../operations/keepRunning.ts"
import { Valkey } from "../storage/valkey/Valkey.ts"
import { type End, Ended } from "./Ended.ts"

const KEPT_MS = Duration.toMillis(Duration.days(30))
/** How long a request waits for Valkey. */
const PATIENCE = Duration.millis(300)
const RETRY_EVERY = "1 second"
/**
 * Most ends that wait while Valkey is away. When there are more, the oldest are dropped, and only PostgreSQL knows
 * them.
 */
const MOST_WAITING = 10_000

/** The braces put all keys into one slot of a cluster, so that many are read at once. */
const keyOf = ({ id, kind }: Omit<End, "atMs">): string => `fathom:{ended}:${kind}:${id}`

const soon = <A, E, B>(call: Effect.Effect<A, E>, otherwise: B): Effect.Effect<A | B> =>
  call.pipe(
    Effect.orElseSucceed(() => otherwise),
    withinTurns(PATIENCE, Effect.succeed(otherwise))
  )

const make = Effect.gen(function* () {
  const valkey = yield* Valkey
  const waiting = new Map<string, number>()

  /** Keeps the time of the first end. Recording an end again only extends how long it is kept. */
  const store = (key: string, atMs: number) =>
    Effect.andThen(
      valkey.send("SET", key, `${atMs}`, "NX", "PX", `${KEPT_MS}`),
      Effect.sync(() => waiting.delete(key))
    )
  const storeAll = Effect.suspend(() => Effect.forEach(Array.from(waiting), ([key, atMs]) => store(key, atMs)))
  yield* Effect.ignore(storeAll).pipe(
    Effect.repeat(Schedule.spaced(RETRY_EVERY)),
    keepRunning("Noting what has ended"),
    Effect.forkScoped
  )

  const wait = (key: string, atMs: number) => {
    const [oldest] = waiting.keys()
    if (waiting.size >= MOST_WAITING && oldest !== undefined) {
      waiting.delete(oldest)
    }
    waiting.set(key, atMs)
  }

  return Ended.of({
    note: (end) =>
      Effect.suspend(() => {
        const key = keyOf(end)
        wait(key, end.atMs)
        return Effect.asVoid(soon(store(key, end.atMs), null))
      }),
    times: (ends) => {
      const none = ends.map(() => null)
      return ends.length === 0
        ? Effect.succeed(none)
        : Effect.map(soon(valkey.send("MGET", ...ends.map(keyOf)), null), (found) =>
            Array.isArray(found) ? found.map((time: unknown) => (time === null ? null : Number(time))) : none
          )
    },
    claim: (end) =>
      Effect.suspend(() => {
        const key = keyOf(end)
        const claimed = Effect.map(
          valkey.send("SET", key, `${end.atMs}`, "NX", "GET", "PX", `${KEPT_MS}`),
          (before) => before === null
        )
        wait(key, end.atMs)
        return Effect.map(
          soon(
            Effect.tap(claimed, () => Effect.sync(() => waiting.delete(key))),
            true
          ),
          Boolean
        )
      })
  })
})

/** Ends in the shared Valkey. While Valkey is away, PostgreSQL alone decides, and new ends wait in this process. */
export const layer: Layer.Layer<never, never, Valkey> = Layer.effect(Ended, make)
