import { Clock, Context, Effect, Layer, Schema } from "effect"
import { createHash } from "node:crypto"
import { KeyedBudget } from "../domain/KeyedBudget.ts"
import { randomBase62, SecretSource } from "../domain/randomText.ts"
import type { Address } from "../domain/Address.ts"
import type { GroupId } from "../domain/wallets/Tracker.ts"

/** Lifetime of a ticket and calls per key and window. */
export const ticketPolicy = { lifeMs: 60_000, calls: 10, windowMs: 60_000 } as const

/** The key, account and wallets that a ticket admits to. Other parameters of the URL are ignored. */
export interface Grant {
  readonly keyId: string
  /** The reference of the session; null for a key. */
  readonly session: string | null
  readonly accountId: string
  /** Wallets tracked when the ticket was issued, in list order; never empty. */
  readonly wallets: ReadonlyArray<Address>
  /** Null for every group. */
  readonly group: GroupId | null
  /** True if the client requested control frames. */
  readonly control: boolean
  readonly streamId: string
  /** Connections of the key; the limit of the specification unless given. */
  readonly sockets?: number
}

/** The key has used its session calls; the next is admitted after `retryAfterMs`. */
export class TooManySessions extends Schema.TaggedError<TooManySessions>()("TooManySessions", {
  retryAfterMs: Schema.Finite
}) {}

/** Single-use tickets for live connections, valid for a minute and bound to a key and wallets. */
export class Tickets extends Context.Service<
  Tickets,
  {
    /** Counts one session call against ten per minute and key. A rejected call counts nothing. */
    enter(keyId: string): Effect.Effect<void, TooManySessions>
    /** Issues a ticket; only its hash is stored. */
    issue(grant: Grant): Effect.Effect<{ readonly ticket: string; readonly expiresAtMs: number }>
    /** The grant of a valid, unused ticket; null otherwise. */
    redeem(ticket: string): Effect.Effect<Grant | null>
  }
>()("fathom/tracker/Tickets") {
  /** Tickets of this process only. */
  static readonly layerMemory: Layer.Layer<Tickets> = Layer.effect(
    Tickets,
    Effect.gen(function* () {
      const random = yield* SecretSource
      const calls = new KeyedBudget({ limit: ticketPolicy.calls, windowMs: ticketPolicy.windowMs })
      // In order of expiry. The call limit per key bounds the size. Lives are measured by the monotonic clock.
      const grants = new Map<string, { readonly grant: Grant; readonly endsAtMs: number }>()

      const forget = (atMs: number) => {
        for (const [hash, { endsAtMs }] of grants) {
          if (endsAtMs > atMs) {
            return
          }
          grants.delete(hash)
        }
      }

      return Tickets.of({
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
      })
    })
  )
}

// 238 random bits.
const TICKET_LENGTH = 40
const TICKET = /^tkt_[0-9A-Za-z]{40}$/u

const monotonicMs = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

const hashOf = (ticket: string): string => createHash("sha256").update(ticket).digest("base64url")
