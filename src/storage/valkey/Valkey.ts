/**
 * The Valkey or Redis server that the processes of one service share. Imports no client: `ValkeyRedis.ts` is loaded
 * when `VALKEY_URL` is set.
 */
import { Config, Context, Duration, Effect, Exit, Fiber, Option, Schedule, Schema } from "effect"
import type { Redis } from "effect/persistence"
import { withinTurns } from "../../domain/loopTime.ts"

/** The server is away, or did not answer in time. It may have carried out the command. */
export class ValkeyUnavailable extends Schema.TaggedError<ValkeyUnavailable>()("ValkeyUnavailable", {
  cause: Schema.Defect()
}) {}

interface ScriptTypes {
  readonly params: ReadonlyArray<unknown>
  readonly result: unknown
}

/** Commands to the shared server. Calls fail at once while it is known to be away. */
export class Valkey extends Context.Service<
  Valkey,
  {
    /** Runs a script atomically. */
    eval<Types extends ScriptTypes>(
      script: Redis.Script<Types>
    ): (...params: Types["params"]) => Effect.Effect<Types["result"], ValkeyUnavailable>
    /** Runs one command. */
    send(command: string, ...args: ReadonlyArray<string>): Effect.Effect<unknown, ValkeyUnavailable>
    /** Notes that an answer is late. The server then counts as away until it answers again. */
    readonly noteLate: () => void
    /** True while the server answers. */
    readonly isUp: () => boolean
    /** How often the server has answered again after it was away, counting the first contact. */
    readonly contacts: () => number
    /** Processes that share the server, as last counted; at least this one. */
    readonly processes: () => number
  }
>()("fathom/storage/valkey/Valkey") {}

/**
 * A connected server that has not answered for this long counts as away, without the delays of a busy event loop. An
 * answer that comes earlier is only late, as on a busy machine: it is waited for, because a process that decides by
 * itself meanwhile would admit more than the limit. A connection that is lost or refused fails its calls at once.
 */
export const LOST_AFTER = Duration.seconds(2)

/** A late answer marks the server as away. It takes a beat until it is asked again. */
const UNDO_RETRIES = { schedule: Schedule.spaced("250 millis"), times: 20 }

const late = new Error("Valkey did not answer in time")

/**
 * The answer to a call, or `ValkeyUnavailable` after `LOST_AFTER`. `undo` reverts an answer that comes even later, and
 * an answer whose caller was interrupted.
 */
export const inTime = <A, E, R>(
  valkey: Valkey["Service"],
  call: Effect.Effect<A, E, R>,
  undo: (answer: A) => Effect.Effect<unknown, unknown> = () => Effect.void
): Effect.Effect<A, E | ValkeyUnavailable, R> =>
  Effect.flatMap(Effect.forkDetach(call, { startImmediately: true }), (fiber) => {
    const abandon = Effect.sync(() =>
      fiber.addObserver((exit) => {
        if (Exit.isSuccess(exit)) {
          Effect.runFork(Effect.ignoreCause(Effect.retry(undo(exit.value), UNDO_RETRIES)))
        }
      })
    )
    return Fiber.await(fiber).pipe(
      withinTurns(LOST_AFTER, Effect.succeed(null)),
      Effect.onInterrupt(() => abandon),
      Effect.flatMap((exit): Effect.Effect<A, E | ValkeyUnavailable> => {
        if (exit !== null) {
          return exit
        }
        valkey.noteLate()
        return Effect.andThen(abandon, Effect.fail(new ValkeyUnavailable({ cause: late })))
      })
    )
  })

/**
 * `VALKEY_URL`: `redis:`, `rediss:`, `valkey:` or `valkeys:`, with user, password, port and database if they differ
 * from the server's defaults.
 */
export const valkeyUrl: Config.Config<Option.Option<string>> = Config.option(
  Config.schema(
    Schema.String.check(
      Schema.makeFilter(
        (text) =>
          (/^(?:redis|valkey)s?:\/\//u.test(text) && URL.canParse(text)) ||
          "must be an address such as redis://user:password@host:6379"
      )
    ),
    "VALKEY_URL"
  )
).pipe(Config.map(Option.map((text) => text.replace(/^valkey/u, "redis"))))

/**
 * `BUDGET_STORE_DOWN`: what happens while Valkey is away. Either each process decides by its share of a limit, or none
 * does.
 */
export const whenDown = Config.Literals(["local", "refuse"], "BUDGET_STORE_DOWN").pipe(
  Config.withDefault("local" as const)
)
