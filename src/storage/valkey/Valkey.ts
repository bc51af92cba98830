/**
 * The Valkey or Redis server that the processes of one service share. This file imports no client: `ValkeyRedis.ts`
 * is loaded only when `VALKEY_URL` is set.
 */
import { Config, Context, Duration, Effect, Exit, Fiber, Option, Schedule, Schema } from "effect"
import type { Redis } from "effect/persistence"
import { withinTurns } from "../../domain/loopTime.ts"

/** The server cannot be reached, or did not answer in time. The command may or may not have run. */
export class ValkeyUnavailable extends Schema.TaggedError<ValkeyUnavailable>()("ValkeyUnavailable", {
  cause: Schema.Defect()
}) {}

interface ScriptTypes {
  readonly params: ReadonlyArray<unknown>
  readonly result: unknown
}

/** Commands to the shared server. They fail at once while the server is known to be away. */
export class Valkey extends Context.Service<
  Valkey,
  {
    /** Runs a script atomically. */
    eval<Types extends ScriptTypes>(
      script: Redis.Script<Types>
    ): (...params: Types["params"]) => Effect.Effect<Types["result"], ValkeyUnavailable>
    /** Runs one command. */
    send(command: string, ...args: ReadonlyArray<string>): Effect.Effect<unknown, ValkeyUnavailable>
    /** Reports that an answer is late. The server then counts as away until it answers again. */
    readonly noteLate: () => void
    /** True while the server answers. */
    readonly isUp: () => boolean
    /** How often the server has come back, counting the first contact. */
    readonly contacts: () => number
    /** How many processes share the server, as last counted. At least 1, for this process. */
    readonly processes: () => number
  }
>()("fathom/storage/valkey/Valkey") {}

/**
 * A connected server counts as away after this long without an answer. Delays of a busy event loop do not count. An
 * answer that comes earlier is only slow, as on a busy machine, and is waited for: a process that decided by itself
 * meanwhile would admit more than the limit. When a connection is lost or refused, its calls fail at once.
 */
export const LOST_AFTER = Duration.seconds(2)

/** After a late answer the server counts as away until the next beat. These retries outlast that. */
const UNDO_RETRIES = { schedule: Schedule.spaced("250 millis"), times: 20 }

const late = new Error("Valkey did not answer in time")

/**
 * Returns the answer to a call, or fails with `ValkeyUnavailable` after `LOST_AFTER`. `undo` reverts the effect when
 * the answer comes later than that, or when the caller was interrupted.
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
 * `BUDGET_STORE_DOWN`: what happens while Valkey is away. `local`: each process enforces its share of a limit.
 * `refuse`: nothing is admitted.
 */
export const whenDown = Config.Literals(["local", "refuse"], "BUDGET_STORE_DOWN").pipe(
  Config.withDefault("local" as const)
)
