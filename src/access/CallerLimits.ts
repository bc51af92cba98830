import { Clock, Context, Effect, Layer, Schema, type Scope } from "effect"
import { monotonicMs } from "../domain/loopTime.ts"
import type { LimiterUnavailable } from "../api/schemas/Budget.ts"
import { KeyedBudget } from "./KeyedBudget.ts"

/** The caller already does as many things of this kind at the same time as it may. */
export class NoPlace extends Schema.TaggedError<NoPlace>()("NoPlace", {}) {}

/** The caller has started too often. The next start fits after `retryAfterMs`. */
export class TooOften extends Schema.TaggedError<TooOften>()("TooOften", { retryAfterMs: Schema.Finite }) {}

/** How many things of one kind a caller may do at the same time. */
export interface PlaceRequest {
  /** Places are counted by kind and caller. */
  readonly kind: string
  readonly caller: string
  readonly limit: number
}

/** How many things of one kind a caller may start in any window. A kind has one window length. */
export interface StartRequest extends PlaceRequest {
  readonly windowMs: number
}

/**
 * Limits of a caller in addition to its budgets: how many things it may do at the same time, and how many it may start
 * in any window.
 */
export class CallerLimits extends Context.Service<
  CallerLimits,
  {
    /** Takes a place until the scope closes. */
    take(request: PlaceRequest): Effect.Effect<void, NoPlace | LimiterUnavailable, Scope.Scope>
    /** Counts a start. A refusal counts nothing. */
    count(request: StartRequest): Effect.Effect<void, TooOften | LimiterUnavailable>
  }
>()("fathom/access/CallerLimits") {
  /** Limits that this process counts alone, by the monotonic clock. */
  static readonly layerMemory: Layer.Layer<CallerLimits> = Layer.sync(CallerLimits, () => {
    const places = new HeldPlaces()
    const starts = new Map<string, KeyedBudget>()

    return CallerLimits.of({
      take: (request) =>
        Effect.asVoid(
          Effect.acquireRelease(
            Effect.suspend(() =>
              places.count(request) < request.limit ? Effect.succeed(places.add(request)) : Effect.fail(new NoPlace())
            ),
            (place) => Effect.sync(() => places.remove(request, place))
          )
        ),
      count: ({ caller, kind, limit, windowMs }) =>
        Clock.clockWith((clock) => {
          const budget = starts.get(kind) ?? new KeyedBudget({ limit, windowMs })
          starts.set(kind, budget)
          const terms = { limit, windowMs }
          const decision = budget.admit(caller, 1, monotonicMs(clock), terms)
          return decision._tag === "Refused"
            ? Effect.fail(new TooOften({ retryAfterMs: decision.fitsInMs }))
            : Effect.void
        })
    })
  })
}

/** Places that this process holds, by kind and caller. */
export class HeldPlaces {
  readonly #places = new Map<string, Set<string>>()
  #last = 0

  /** The held places by the name of their kind and caller (`nameOf`). */
  get all(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#places
  }

  count(request: PlaceRequest): number {
    return this.#places.get(nameOf(request))?.size ?? 0
  }

  /** Takes a place, whatever the limit. Returns the place, for `remove`. */
  add(request: PlaceRequest): string {
    const name = nameOf(request)
    const place = `${++this.#last}`
    this.#places.set(name, (this.#places.get(name) ?? new Set()).add(place))
    return place
  }

  remove(request: PlaceRequest, place: string): void {
    const name = nameOf(request)
    const places = this.#places.get(name)
    places?.delete(place)
    if (places?.size === 0) {
      this.#places.delete(name)
    }
  }
}

/** The name under which the places of a kind and a caller are counted. */
export const nameOf = ({ caller, kind }: PlaceRequest): string => `{${caller}}:${kind}`
