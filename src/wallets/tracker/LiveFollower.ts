import { Effect, type Scope } from "effect"
import type { Address } from "../../domain/Address.ts"
import type { LiveEvent, LiveGap } from "../../api/schemas/LiveFrame.ts"

/** Callbacks that the feed's writer invokes synchronously: they must not block and must not throw. */
export interface LiveFollower {
  /**
   * True if a listener exists for the wallet. With `sinceMs`, the listener has to track the wallet from that second on.
   * Events without a listener are not built.
   */
  readonly wants: (wallet: Address, sinceMs?: number) => boolean
  /** Takes the events of one block or tick, per wallet by slot and index. A trade comes before its consequences. */
  readonly take: (events: ReadonlyArray<LiveEvent>, nowMs: number) => void
  /** Blocks were missed: state sent earlier has to be sent again. */
  readonly lost: (gap: LiveGap, nowMs: number) => void
}

/** Every follower of a feed, as one. */
export class LiveFollowers implements LiveFollower {
  readonly #all = new Set<LiveFollower>()

  readonly wants: LiveFollower["wants"] = (wallet, sinceMs) => {
    for (const follower of this.#all) {
      if (follower.wants(wallet, sinceMs)) {
        return true
      }
    }
    return false
  }

  readonly take: LiveFollower["take"] = (events, nowMs) => {
    if (events.length > 0) {
      this.#all.forEach((follower) => follower.take(events, nowMs))
    }
  }

  readonly lost: LiveFollower["lost"] = (gap, nowMs) => this.#all.forEach((follower) => follower.lost(gap, nowMs))

  /** Invokes the follower until the scope closes. */
  follow(follower: LiveFollower): Effect.Effect<void, never, Scope.Scope> {
    return Effect.asVoid(
      Effect.acquireRelease(
        Effect.sync(() => this.#all.add(follower)),
        () => Effect.sync(() => this.#all.delete(follower))
      )
    )
  }
}
