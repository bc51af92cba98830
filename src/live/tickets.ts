import { Clock, Effect, Schema } from "effect"
import { createHash } from "node:crypto"
import { KeyedBudget } from "../domain/KeyedBudget.ts"
import { randomBase62, SecretSource } from "../domain/randomText.ts"
import type { LiveGrant } from "./LiveGrant.ts"

/** Lifetime of a ticket and calls per key and window. */
export const ticketPolicy = { lifeMs: 60_000, calls: 10, windowMs: 60_000 } as const

/** The key has used its session calls; the next is admitted after `retryAfterMs`. */
export class TooManySessions extends Schema.TaggedError<TooManySessions>()("TooManySessions", {
  retryAfterMs: Schema.Finite
}) {}

/** Single-use tickets for live connections, valid for a minute and bound to a grant. */
export interface TicketBook<G extends LiveGrant> {
  /** Counts one session call against ten per minute and key. A rejected call counts nothing. */
  enter(keyId: string): Effect.Effect<void, TooManySessions>
  /** Issues a ticket; only its hash is stored. */
  issue(grant: G): Effect.Effect<{ readonly ticket: string; readonly expiresAtMs: number }>
  /** The grant of a valid, unused ticket; null otherwise. */
  redeem(ticket: string): Effect.Effect<G | null>
}

/** Tickets of this process only. */
export const makeTickets = <G extends LiveGrant>(): Effect.Effect<TicketBook<G>> =>
  Effect.map(SecretSource, (random) => {
    const calls = new KeyedBudget({ limit: ticketPolicy.calls, windowMs: ticketPolicy.windowMs })
    // In order of expiry. The call limit per key bounds the size. Lives are measured by the monotonic clock.
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
      enter: (keyId) =>
        Clock.clockWith((clock) => {
          const admission = calls.admit(keyId, 1, monotonicMs(clock))
          return admission._tag === "Refused"
            ? Effect.fail(new TooManySessions({ retryAfterMs: admission.fitsInMs }))
            : Effect.void
        }),
      issue: (grant) =>
        Clock.clockWith((clock) => {
          const atMs = monotonicMs(clock)
          forget(atMs)
          const ticket = `tkt_${randomBase62(TICKET_LENGTH, random)}`
          grants.set(hashOf(ticket), { grant, endsAtMs: atMs + ticketPolicy.lifeMs })
          return Effect.succeed({ ticket, expiresAtMs: clock.currentTimeMillisUnsafe() + ticketPolicy.lifeMs })
        }),
      redeem: (ticket) =>
        Clock.clockWith((clock) => {
          const hash = TICKET.test(ticket) ? hashOf(ticket) : ""
          const held = grants.get(hash)
          grants.delete(hash)
          return Effect.succeed(held !== undefined && monotonicMs(clock) < held.endsAtMs ? held.grant : null)
        })
    }
  })

// 238 random bits.
const TICKET_LENGTH = 40
const TICKET = /^tkt_[0-9A-Za-z]{40}$/u

const monotonicMs = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

const hashOf = (ticket: string): string => createHash("sha256").update(ticket).digest("base64url")
