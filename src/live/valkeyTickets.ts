/** Tickets that any process of a service can redeem, whichever process issued them. */
import { Clock, Effect, Schema } from "effect"
import { CallerLimits } from "../access/CallerLimits.ts"
import { SecretSource } from "../domain/randomText.ts"
import { inTime, Valkey, type ValkeyUnavailable } from "../storage/valkey/Valkey.ts"
import type { LiveGrant } from "./LiveGrant.ts"
import { countCalls, hashOf, newTicket, type TicketBook, ticketPolicy, TicketsUnavailable } from "./tickets.ts"

const unavailable = ({ cause }: ValkeyUnavailable) => Effect.fail(new TicketsUnavailable({ cause }))

/**
 * A ticket is a key with the ticket's lifetime. One command reads and removes it. `kind` names the session calls of the
 * tickets.
 */
export const makeValkeyTickets = <G extends LiveGrant>(
  kind: string,
  schema: Schema.Codec<G, unknown>
): Effect.Effect<TicketBook<G>, never, CallerLimits | Valkey> =>
  Effect.gen(function* () {
    const valkey = yield* Valkey
    const random = yield* SecretSource
    const stored = Schema.fromJsonString(schema)
    const [encode, decode] = [Schema.encodeEffect(stored), Schema.decodeEffect(stored)]
    const keyOf = (hash: string): string => `fathom:ticket:${kind}:${hash}`
    const send = (command: string, ...args: ReadonlyArray<string>) =>
      Effect.catchTag(inTime(valkey, valkey.send(command, ...args)), "ValkeyUnavailable", unavailable)

    const issue = Effect.fnUntraced(function* (grant: G) {
      const { hash, ticket } = newTicket(random)
      const text = yield* Effect.orDie(encode(grant))
      const nowMs = yield* Clock.currentTimeMillis
      yield* send("SET", keyOf(hash), text, "PX", `${ticketPolicy.lifeMs}`)
      return { ticket, expiresAtMs: nowMs + ticketPolicy.lifeMs }
    })

    const redeem = Effect.fnUntraced(function* (ticket: string) {
      const hash = hashOf(ticket)
      const text = hash === null ? null : yield* send("GETDEL", keyOf(hash))
      return typeof text === "string" ? yield* Effect.orDie(decode(text)) : null
    })

    return { enter: countCalls(yield* CallerLimits, kind), issue, redeem }
  })
