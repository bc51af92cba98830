import { Clock, Effect, Schema } from "effect"
import { monotonicMs } from "../domain/loopTime.ts"
import { createHash } from "node:crypto"
import { CallerLimits } from "../access/CallerLimits.ts"
import type { Plan } from "../api/schemas/Plan.ts"
import type { LimiterUnavailable } from "../api/schemas/Budget.ts"
import { type RandomBytes, randomBase62, SecretSource } from "../domain/randomText.ts"
import type { LiveGrant } from "./LiveGrant.ts"

/** Lifetime of a ticket, the window in which session calls are counted, and the least calls and the calls for a socket. */
export const ticketPolicy = { lifeMs: 60_000, windowMs: 60_000, leastCalls: 10, callsPerSocket: 2 } as const

/**
 * Session calls of a key in any minute, separately for each kind of socket. Every connection of its plan can be opened
 * twice, so that a key with many connections is back within a minute after they were lost.
 */
export const callsOf = ({ sockets }: Pick<Plan, "sockets">): number =>
  Math.max(ticketPolicy.leastCalls, ticketPolicy.callsPerSocket * sockets)

/** The key has used its `calls` of a minute. The next fits after `retryAfterMs`. */
export class TooManySessions extends Schema.TaggedError<TooManySessions>()("TooManySessions", {
  calls: Schema.Int,
  retryAfterMs: Schema.Finite
}) {}

/** Tickets cannot be issued or redeemed now. */
export class TicketsUnavailable extends Schema.TaggedError<TicketsUnavailable>()("TicketsUnavailable", {
  cause: Schema.Defect()
}) {}

/** Single-use tickets for live connections, valid for a minute and bound to a grant. */
export interface TicketBook<G extends LiveGrant> {
  /** Counts one session call against the calls of the plan. A rejected call counts nothing. */
  enter(keyId: string, plan: Pick<Plan, "sockets">): Effect.Effect<void, TooManySessions | LimiterUnavailable>
  /** Issues a ticket; only its hash is stored. */
  issue(grant: G): Effect.Effect<{ readonly ticket: string; readonly expiresAtMs: number }, TicketsUnavailable>
  /** The grant of a valid, unused ticket; null otherwise. */
  redeem(ticket: string): Effect.Effect<G | null, TicketsUnavailable>
}

/** Counts the session calls of a key, separately for each kind of socket. */
export const countCalls =
  (limits: CallerLimits["Service"], kind: string) =>
  (keyId: string, plan: Pick<Plan, "sockets">): Effect.Effect<void, TooManySessions | LimiterUnavailable> => {
    const calls = callsOf(plan)
    return limits
      .count({ kind, caller: keyId, limit: calls, windowMs: ticketPolicy.windowMs })
      .pipe(
        Effect.catchTag("TooOften", ({ retryAfterMs }) => Effect.fail(new TooManySessions({ calls, retryAfterMs })))
      )
  }

/** Tickets of this process only. `kind` names their session calls. */
export const makeTickets = <G extends LiveGrant>(kind: string): Effect.Effect<TicketBook<G>, never, CallerLimits> =>
  Effect.gen(function* () {
    const random = yield* SecretSource
    const enter = countCalls(yield* CallerLimits, kind)
    // Ordered by expiry. The call limit per key bounds the number. The monotonic clock measures the lifetime.
    const grants = new Map<string, { readonly grant: G; readonly endsAtMs: number }>()

    const forget = (atMs: number) => {
      for (const [hash, { endsAtMs }] of grants) {
        if (endsAtMs > atMs) {
          return
        }
        grants.delete(hash)
      }
    }

    return {
      enter,
      issue: (grant) =>
        Clock.clockWith((clock) => {
          const atMs = monotonicMs(clock)
          forget(atMs)
          const { hash, ticket } = newTicket(random)
          grants.set(hash, { grant, endsAtMs: atMs + ticketPolicy.lifeMs })
          return Effect.succeed({ ticket, expiresAtMs: clock.currentTimeMillisUnsafe() + ticketPolicy.lifeMs })
        }),
      redeem: (ticket) =>
        Clock.clockWith((clock) => {
          const hash = hashOf(ticket) ?? ""
          const held = grants.get(hash)
          grants.delete(hash)
          return Effect.succeed(held !== undefined && monotonicMs(clock) < held.endsAtMs ? held.grant : null)
        })
    }
  })

// 238 random bits.
const TICKET_LENGTH = 40
const TICKET = /^tkt_[0-9A-Za-z]{40}$/u

/** The hash under which a ticket is stored; null for text that is not a ticket. */
export const hashOf = (ticket: string): string | null =>
  TICKET.test(ticket) ? createHash("sha256").update(ticket).digest("base64url") : null

/** A new ticket and its hash. */
export const newTicket = (random: RandomBytes): { readonly ticket: string; readonly hash: string } => {
  const ticket = `tkt_${randomBase62(TICKET_LENGTH, random)}`
  return { ticket, hash: hashOf(ticket) ?? "" }
}
