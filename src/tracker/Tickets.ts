import { Clock, Context, Effect, Layer, Schema } from "effect"
import { createHash } from "node:crypto"
import { KeyedBudget } from "../domain/KeyedBudget.ts"
import { randomBase62, SecretSource } from "../domain/randomText.ts"
import type { Address } from "../domain/Address.ts"
import type { GroupId } from "../domain/wallets/Tracker.ts"

/** How long a ticket opens the door, and how many may be asked for. */
export const ticketPolicy = { lifeMs: 60_000, calls: 10, windowMs: 60_000 } as const

/** What a ticket stands for: who may connect, and to what. The ticket decides, not what else the URL says. */
export interface Grant {
  readonly keyId: string
  readonly accountId: string
  /** Those tracked when the ticket was made, in the order of the list; never empty. */
  readonly wallets: ReadonlyArray<Address>
  /** Null when the session is about every group. */
  readonly group: GroupId | null
  /** Whether control frames were asked for. */
  readonly control: boolean
  readonly streamId: string
}

/** The key has asked for as many sessions as it may; there is room again after `retryAfterMs`. */
export class TooManySessions extends Schema.TaggedError<TooManySessions>()("TooManySessions", {
  retryAfterMs: Schema.Finite
}) {}

/** Tickets for live connections: single use, a minute long, bound to a key and to wallets. */
export class Tickets extends Context.Service<
  Tickets,
  {
    /** Counts one call for a session against the ten a minute of the key. A refusal counts nothing. */
    enter(keyId: string): Effect.Effect<void, TooManySessions>
    /** Makes a ticket; only its hash is kept. */
    issue(grant: Grant): Effect.Effect<{ readonly ticket: string; readonly expiresAtMs: number }>
    /** What the ticket stands for, the first time and before it expires; null ever after, and for any other text. */
    redeem(ticket: string): Effect.Effect<Grant | null>
  }
>()("fathom/tracker/Tickets") {
  /** Tickets of this process alone. */
  static readonly layerMemory: Layer.Layer<Tickets> = Layer.effect(
    Tickets,
    Effect.gen(function* () {
      const random = yield* SecretSource
      const calls = new KeyedBudget({ limit: ticketPolicy.calls, windowMs: ticketPolicy.windowMs })
      // In order of expiry, so that the oldest are found at the front. Calls are limited per key, and so is this.
      const grants = new Map<string, { readonly grant: Grant; readonly expiresAtMs: number }>()

      const forget = (nowMs: number) => {
        for (const [hash, { expiresAtMs }] of grants) {
          if (expiresAtMs > nowMs) {
            return
          }
          grants.delete(hash)
        }
      }

      return Tickets.of({
        enter: (keyId) =>
          Clock.clockWith((clock) => {
            const verdict = calls.admit(keyId, 1, Number(clock.monotonicTimeNanosUnsafe()) / 1e6)
            return verdict._tag === "Refused"
              ? Effect.fail(new TooManySessions({ retryAfterMs: verdict.fitsInMs }))
              : Effect.void
          }),
        issue: (grant) =>
          Effect.map(Clock.currentTimeMillis, (nowMs) => {
            forget(nowMs)
            const ticket = `tkt_${randomBase62(TICKET_LENGTH, random)}`
            const expiresAtMs = nowMs + ticketPolicy.lifeMs
            grants.set(hashOf(ticket), { grant, expiresAtMs })
            return { ticket, expiresAtMs }
          }),
        redeem: (ticket) =>
          Effect.map(Clock.currentTimeMillis, (nowMs) => {
            const hash = TICKET.test(ticket) ? hashOf(ticket) : ""
            const held = grants.get(hash)
            grants.delete(hash)
            return held !== undefined && nowMs < held.expiresAtMs ? held.grant : null
          })
      })
    })
  )
}

// 238 random bits.
const TICKET_LENGTH = 40
const TICKET = /^tkt_[0-9A-Za-z]{40}$/u

const hashOf = (ticket: string): string => createHash("sha256").update(ticket).digest("base64url")
