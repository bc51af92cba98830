import { Clock, Context, Effect, Layer, type Scope, Stream } from "effect"
import { CallerLimits } from "../../access/CallerLimits.ts"
import { KeyStore } from "../../access/KeyStore.ts"
import { endsSession, SessionStore } from "../../access/accounts/SessionStore.ts"
import type { LimiterUnavailable, RateLimited } from "../../api/errors/problems.ts"
import type { Caller } from "../../api/schemas/Budget.ts"
import type { Plan } from "../../api/schemas/Plan.ts"
import { Drain } from "../Drain.ts"
import { keepRunning } from "../../operations/keepRunning.ts"
import { Readings } from "../../operations/Readings.ts"
import { limited, limiterUnavailable } from "../problems.ts"

type Ending = "server_shutdown" | "key_revoked"

/** A stream that can be ended from outside. */
export interface EndableStream {
  close(ending: Ending, nowMs: number): void
}

/** Who holds a stream: a key, or one session of an account. */
export interface StreamHolder {
  readonly key: Caller
  readonly accountId: string
  /** The reference of the session; null for a key. */
  readonly session: string | null
}

/** One stream slot of a key. It can be ended before its stream is attached. */
export class StreamSlot {
  readonly holder: StreamHolder
  #session: EndableStream | undefined
  #ending: Ending | undefined

  constructor(holder: StreamHolder) {
    this.holder = holder
  }

  get key(): Caller {
    return this.holder.key
  }

  /** Attaches the stream after its first frames have been sent. */
  attach(session: EndableStream, nowMs: number): void {
    this.#session = session
    if (this.#ending !== undefined) {
      session.close(this.#ending, nowMs)
    }
  }

  /** Ends the stream, now or as soon as it is attached. */
  end(ending: Ending, nowMs: number): void {
    this.#ending = ending
    this.#session?.close(ending, nowMs)
  }
}

const tooMany = ({ streams }: Plan) => limited("stream", `A key may have ${streams} streams open at a time.`)

/**
 * The open event streams of this process. Their number is limited for each key, over all processes that share limits.
 * Revocation, the end of a session and shutdown end them.
 */
export class StreamLimits extends Context.Service<
  StreamLimits,
  {
    /** Takes one of the key's stream slots until the scope ends. */
    acquire(holder: StreamHolder): Effect.Effect<StreamSlot, RateLimited | LimiterUnavailable, Scope.Scope>
  }
>()("fathom/http/streams/StreamLimits") {
  static readonly layer: Layer.Layer<StreamLimits, never, CallerLimits | KeyStore | SessionStore | Drain> =
    Layer.effect(
      StreamLimits,
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const sessions = yield* SessionStore
        const drain = yield* Drain
        const limits = yield* CallerLimits
        const slots = new Map<string, Set<StreamSlot>>()

        const endAll = (ending: Ending, which: Iterable<StreamSlot>) =>
          Effect.map(Clock.currentTimeMillis, (nowMs) => {
            for (const slot of which) {
              slot.end(ending, nowMs)
            }
          })

        yield* (yield* Readings).report(
          { name: "fathom_quote_streams", help: "Open event streams of quotes, trades and candles.", kind: "gauge" },
          () => slots.values().reduce((sum, { size }) => sum + size, 0)
        )

        const allSlots = () => Array.from(slots.values()).flatMap((some) => Array.from(some))

        yield* keys.closures.pipe(
          Stream.runForEach((key) => endAll("key_revoked", slots.get(key) ?? [])),
          keepRunning("Ending streams of closed keys"),
          Effect.forkScoped({ startImmediately: true })
        )
        yield* sessions.closures.pipe(
          Stream.runForEach((closure) =>
            endAll(
              "key_revoked",
              allSlots().filter(({ holder }) => endsSession(closure, holder.accountId, holder.session))
            )
          ),
          keepRunning("Ending streams of ended sessions"),
          Effect.forkScoped({ startImmediately: true })
        )
        yield* drain.wait.pipe(
          Effect.andThen(Effect.suspend(() => endAll("server_shutdown", allSlots()))),
          Effect.forkScoped({ startImmediately: true })
        )

        const place = ({ key: { id, plan } }: StreamHolder) =>
          limits
            .take({ kind: "streams", caller: id, limit: plan.streams })
            .pipe(
              Effect.catchTags({ NoPlace: () => Effect.fail(tooMany(plan)), LimiterUnavailable: limiterUnavailable })
            )

        const open = (holder: StreamHolder) =>
          Effect.suspend(() => {
            const slot = new StreamSlot(holder)
            const { id } = holder.key
            slots.set(id, (slots.get(id) ?? new Set<StreamSlot>()).add(slot))
            return drain.begun() ? Effect.as(endAll("server_shutdown", [slot]), slot) : Effect.succeed(slot)
          })

        const release = (slot: StreamSlot) =>
          Effect.sync(() => {
            const taken = slots.get(slot.key.id)
            taken?.delete(slot)
            if (taken?.size === 0) {
              slots.delete(slot.key.id)
            }
          })

        return StreamLimits.of({
          acquire: (holder) => Effect.andThen(place(holder), Effect.acquireRelease(open(holder), release))
        })
      })
    )
}
