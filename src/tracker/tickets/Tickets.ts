import { Clock, Context, Effect, Layer, Schema } from "effect"
import { createHash } from "node:crypto"
import { CallerLimits } from "../../access/CallerLimits.ts"
import type { LimiterUnavailable } from "../../domain/Budget.ts"
import { type RandomBytes, randomBase62, SecretSource } from "../../domain/randomText.ts"
import { Address } from "../../domain/Address.ts"
import { GroupId } from "../../domain/wallets/Tracker.ts"

/** Lifetime of a ticket and calls per key and window. */
export const ticketPolicy = { lifeMs: 60_000, calls: 10, windowMs: 60_000 } as const

/** The key, account and wallets that a ticket admits to. Other parameters of the URL are ignored. */
export class Grant extends Schema.Opaque<Grant>()(
  Schema.Struct({
    keyId: Schema.String,
    session: Schema.NullOr(Schema.String).annotate({ description: "The reference of the session; null for a key." }),
    accountId: Schema.String,
    wallets: Schema.Array(Address).annotate({
      description: "Wallets tracked when the ticket was issued, in list order; never empty."
    }),
    group: Schema.NullOr(GroupId).annotate({ description: "Null for every group." }),
    control: Schema.Boolean.annotate({ description: "True if the client requested control frames." }),
    streamId: Schema.String,
    sockets: Schema.optionalKey(Schema.Int).annotate({
      description: "Connections of the key; the limit of the specification unless given."
    })
  })
) {}

/** The key has used its session calls; the next is admitted after `retryAfterMs`. */
export class TooManySessions extends Schema.TaggedError<TooManySessions>()("TooManySessions", {
  retryAfterMs: Schema.Finite
}) {}

/** Tickets cannot be issued or redeemed now. */
export class TicketsUnavailable extends Schema.TaggedError<TicketsUnavailable>()("TicketsUnavailable", {
  cause: Schema.Defect()
}) {}

/** Single-use tickets for live connections, valid for a minute and bound to a key and wallets. */
export class Tickets extends Context.Service<
  Tickets,
  {
    /** Counts one session call against ten per minute and key. A rejected call counts nothing. */
    enter(keyId: string): Effect.Effect<void, TooManySessions | LimiterUnavailable>
    /** Issues a ticket; only its hash is stored. */
    issue(grant: Grant): Effect.Effect<{ readonly ticket: string; readonly expiresAtMs: number }, TicketsUnavailable>
    /** The grant of a valid, unused ticket; null otherwise. */
    redeem(ticket: string): Effect.Effect<Grant | null, TicketsUnavailable>
  }
>()("fathom/tracker/Tickets") {
  /** Tickets of this process only. */
  static readonly layerMemory: Layer.Layer<Tickets> = Layer.effect(
    Tickets,
    Effect.gen(function* () {
      const random = yield* SecretSource
      const enter = countCalls(yield* CallerLimits)
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
      })
    })
  ).pipe(Layer.provide(CallerLimits.layerMemory))
}

// 238 random bits.
const TICKET_LENGTH = 40
const TICKET = /^tkt_[0-9A-Za-z]{40}$/u

const monotonicMs = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

/** The hash under which a ticket is stored; null for a text that is no ticket. */
export const hashOf = (ticket: string): string | null =>
  TICKET.test(ticket) ? createHash("sha256").update(ticket).digest("base64url") : null

/** A new ticket and its hash. */
export const newTicket = (random: RandomBytes): { readonly ticket: string; readonly hash: string } => {
  const ticket = `tkt_${randomBase62(TICKET_LENGTH, random)}`
  return { ticket, hash: hashOf(ticket) ?? "" }
}

/** Counts the session calls of a key. */
export const countCalls = (limits: CallerLimits["Service"]) => (keyId: string) =>
  limits
    .count({ kind: "sessions", caller: keyId, limit: ticketPolicy.calls, windowMs: ticketPolicy.windowMs })
    .pipe(Effect.catchTag("TooOften", ({ retryAfterMs }) => Effect.fail(new TooManySessions({ retryAfterMs }))))
