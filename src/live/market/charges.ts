/** Charges subscriptions to the REST budget of their keys. */
import { Clock, Effect } from "effect"
import type { RateLimiter } from "../../access/RateLimiter.ts"
import type { UsageStore } from "../../access/usage/UsageStore.ts"
import type { BudgetExceeded, LimiterUnavailable } from "../../api/schemas/Budget.ts"
import { ownTurn, visitInTurns } from "../../domain/loopTime.ts"
import type { MarketHub } from "./MarketHub.ts"
import { costOf, type Ending, type Subscription } from "./Topic.ts"

/** Name under which connections and their units appear in the usage of keys. */
export const OPERATION = "market.realtime"

/** Time that one charge pays for, in milliseconds. */
export const PAID_MS = 60_000

/** The clocks of processes that hand a paid minute over differ by less than this, in milliseconds. */
const SKEW_MS = 5000

/** Services and hub of charges. */
export interface ChargeParts {
  readonly hub: MarketHub
  readonly limiter: RateLimiter["Service"]
  readonly usage: UsageStore["Service"]
}

/** The end of a subscription that cannot be paid. */
export const endingOf = (error: BudgetExceeded | LimiterUnavailable, nowMs: number): Ending =>
  error._tag === "BudgetExceeded"
    ? {
        code: "rate_limited",
        message: `The ${error.budget} budget of ${error.limit} units has no room for this subscription.`,
        retryAfterMs: Math.max(0, error.fitsAtMs - nowMs)
      }
    : { code: "limiter_unavailable", message: "Admission could not be decided: subscribe again." }

const isDue = ({ isOpen, paidUntilMs, topic }: Subscription, nowMs: number): boolean =>
  // A charge pays for at most the next minute. A later time means that the clock was set back.
  isOpen && (paidUntilMs <= nowMs || paidUntilMs > nowMs + PAID_MS + SKEW_MS) && costOf(topic.terms) > 0

/** Charges the next minute of these subscriptions of one stream: all of them or none. */
export const charge = Effect.fnUntraced(function* (
  { limiter, usage }: ChargeParts,
  subscriptions: ReadonlyArray<Subscription>
): Effect.fn.Return<void, BudgetExceeded | LimiterUnavailable> {
  const [first] = subscriptions
  const cost = subscriptions.reduce((sum, { topic }) => sum + costOf(topic.terms), 0)
  const nowMs = yield* Clock.currentTimeMillis
  if (first !== undefined && cost > 0) {
    const { accountId, keyId: id, plan } = first.stream.grant
    yield* limiter.admit({ key: { id, plan }, budget: "rest", cost })
    usage.addUnits({ id, accountId }, OPERATION, cost)
  }
  for (const subscription of subscriptions) {
    // A minute after the last paid one, so that late charges do not add up. Time before the last minute is not charged.
    subscription.paidUntilMs = Math.max(Math.min(subscription.paidUntilMs, nowMs), nowMs - PAID_MS) + PAID_MS
  }
})

/** Charges one subscription, and ends it when it cannot be paid. */
const chargeOne = (parts: ChargeParts, subscription: Subscription) =>
  Effect.catchTag(charge(parts, [subscription]), "BudgetExceeded", (error) =>
    Effect.map(Clock.currentTimeMillis, (nowMs) => parts.hub.end(subscription, endingOf(error, nowMs), nowMs))
  )

/** Streams that are charged at a time. */
const AT_ONCE = 32

/**
 * Charges every subscription whose minute has ended. Subscriptions of one stream are charged together, or one by one
 * when the budget is short. Stops when the limiter cannot decide: the others stay unpaid until the next call.
 */
export const chargeDue = Effect.fnUntraced(function* (parts: ChargeParts) {
  const dueAt = (all: Iterable<Subscription>, nowMs: number): ReadonlyArray<Subscription> =>
    Array.from(all).filter((one) => isDue(one, nowMs) && parts.hub.isWanted(one))
  const dueOf = (all: Iterable<Subscription>) => Effect.map(Clock.currentTimeMillis, (nowMs) => dueAt(all, nowMs))
  // Runs every second over all connections: without an effect for each, and in turns, so that a block does not wait for all.
  const beganMs = yield* Clock.currentTimeMillis
  const streams: Array<ReadonlyArray<Subscription>> = []
  yield* visitInTurns(parts.hub.connections, ({ stream }) => {
    const due = dueAt(stream.subscriptions.values(), beganMs)
    if (due.length > 0) {
      streams.push(due)
    }
  })
  // Looked up again for each stream, because the reader may have left while others were charged.
  const chargeStream = Effect.fnUntraced(function* (found: ReadonlyArray<Subscription>) {
    const due = yield* dueOf(found)
    if (due.length > 0) {
      yield* Effect.catchTag(charge(parts, due), "BudgetExceeded", () =>
        Effect.forEach(
          due,
          (one) =>
            Effect.flatMap(
              dueOf([one]),
              Effect.forEach((each) => chargeOne(parts, each))
            ),
          {
            discard: true
          }
        )
      )
    }
  })
  // A charge is marked as paid even if another one fails in the meantime.
  yield* Effect.forEach(streams, (due) => Effect.andThen(ownTurn, Effect.uninterruptible(chargeStream(due))), {
    concurrency: AT_ONCE,
    discard: true
  }).pipe(Effect.catchTag("LimiterUnavailable", () => Effect.void))
})
