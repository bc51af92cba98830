/** Tickets that any process of a service redeems, whichever has issued them. */
import { Clock, Duration, Effect, Layer, Schema } from "effect"
import { CallerLimits } from "../../access/CallerLimits.ts"
import { SecretSource } from "../../domain/randomText.ts"
import { inTime, Valkey, type ValkeyUnavailable } from "../../storage/valkey/Valkey.ts"
import { countCalls, Grant, hashOf, newTicket, ticketPolicy, Tickets, TicketsUnavailable } from "./Tickets.ts"

const DEADLINE = Duration.millis(300)

const StoredGrant = Schema.fromJsonString(Grant)
const encode = Schema.encodeEffect(StoredGrant)
const decode = Schema.decodeEffect(StoredGrant)

const keyOf = (hash: string): string => `fathom:ticket:${hash}`

const unavailable = ({ cause }: ValkeyUnavailable) => Effect.fail(new TicketsUnavailable({ cause }))

/** A ticket is a key with the lifetime of the ticket, taken and removed by one command. */
export const layer: Layer.Layer<Tickets, never, CallerLimits | Valkey> = Layer.effect(
  Tickets,
  Effect.gen(function* () {
    const valkey = yield* Valkey
    const random = yield* SecretSource
    const send = (command: string, ...args: ReadonlyArray<string>) =>
      Effect.catchTag(
        inTime(valkey, valkey.send(command, ...args), undefined, DEADLINE),
        "ValkeyUnavailable",
        unavailable
      )

    const issue = Effect.fnUntraced(function* (grant: Grant) {
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

    return Tickets.of({ enter: countCalls(yield* CallerLimits), issue, redeem })
  })
)
