import { Clock, Context, Effect, Layer, type Scope, Stream } from "effect"
import { KeyStore } from "../../access/KeyStore.ts"
import { RateLimited } from "../../api/problems.ts"
import type { QuoteSession } from "../../quotes/QuoteSession.ts"
import { Drain } from "../Drain.ts"

/** Streams that one key may have open at a time. */
const MOST_STREAMS = 5

type Ending = "server_shutdown" | "key_revoked"

/** One stream's place among those of its key. It may be told to end before it has begun. */
export class Place {
  readonly key: string
  #session: QuoteSession | undefined
  #ending: Ending | undefined

  constructor(key: string) {
    this.key = key
  }

  /** Gives the place its stream, which has said its first frames. */
  attach(session: QuoteSession, nowMs: number): void {
    this.#session = session
    if (this.#ending !== undefined) {
      session.close(this.#ending, nowMs)
    }
  }

  /** Ends the stream, now or as soon as it has begun. */
  end(ending: Ending, nowMs: number): void {
    this.#ending = ending
    this.#session?.close(ending, nowMs)
  }
}

const tooMany = () =>
  new RateLimited({
    error: {
      message: `A key may have ${MOST_STREAMS} streams open at a time.`,
      details: [{ in: "header", field: "stream", issue: "out_of_range" }]
    }
  })

/** The open quote streams of this process: how many a key has, and how they are ended from outside. */
export class StreamPlaces extends Context.Service<
  StreamPlaces,
  {
    /** Takes one of the key's five places until the scope ends. */
    enter(key: string): Effect.Effect<Place, RateLimited, Scope.Scope>
  }
>()("fathom/http/streams/StreamPlaces") {
  static readonly layer: Layer.Layer<StreamPlaces, never, KeyStore | Drain> = Layer.effect(
    StreamPlaces,
    Effect.gen(function* () {
      const keys = yield* KeyStore
      const drain = yield* Drain
      const places = new Map<string, Set<Place>>()

      const endAll = (ending: Ending, which: Iterable<Place>) =>
        Effect.map(Clock.currentTimeMillis, (nowMs) => {
          for (const place of which) {
            place.end(ending, nowMs)
          }
        })

      const everywhere = () => Array.from(places.values()).flatMap((some) => Array.from(some))

      yield* keys.closures.pipe(
        Stream.runForEach((key) => endAll("key_revoked", places.get(key) ?? [])),
        Effect.forkScoped({ startImmediately: true })
      )
      yield* drain.wait.pipe(
        Effect.andThen(Effect.suspend(() => endAll("server_shutdown", everywhere()))),
        Effect.forkScoped({ startImmediately: true })
      )

      const take = (key: string) =>
        Effect.suspend(() => {
          const taken = places.get(key) ?? new Set<Place>()
          if (taken.size >= MOST_STREAMS) {
            return Effect.fail(tooMany())
          }
          const place = new Place(key)
          places.set(key, taken.add(place))
          return drain.begun() ? Effect.as(endAll("server_shutdown", [place]), place) : Effect.succeed(place)
        })

      const leave = (place: Place) =>
        Effect.sync(() => {
          const taken = places.get(place.key)
          taken?.delete(place)
          if (taken?.size === 0) {
            places.delete(place.key)
          }
        })

      return StreamPlaces.of({
        enter: (key) => Effect.acquireRelease(take(key), leave)
      })
    })
  )
}
