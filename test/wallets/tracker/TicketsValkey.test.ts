import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import * as CallerLimitsValkey from "../../../src/access/CallerLimitsValkey.ts"
import { Valkey } from "../../../src/storage/valkey/Valkey.ts"
import * as ValkeyRedis from "../../../src/storage/valkey/ValkeyRedis.ts"
import { Tickets } from "../../../src/wallets/tracker/Tickets.ts"
import * as TicketsValkey from "../../../src/wallets/tracker/TicketsValkey.ts"
import { until } from "../../support/sse.ts"
import { client, emptied, isAvailable, server, sharedServer } from "../../support/valkey.ts"
import { grant, ticketsContract } from "./ticketsContract.ts"

const over = <E>(valkey: Layer.Layer<Valkey, E>) =>
  TicketsValkey.layer.pipe(Layer.provide(CallerLimitsValkey.layer), Layer.provideMerge(valkey), Layer.fresh)

describe.runIf(isAvailable)("TicketsValkey", () => {
  const shared = sharedServer()
  ticketsContract("TicketsValkey.layer", over(emptied(shared)))

  it.effect("redeems a ticket from another process exactly once, and holds it for a minute", () =>
    Effect.gen(function* () {
      const first = yield* Layer.build(over(emptied(shared)))
      const second = yield* Layer.build(over(client(shared().url)))
      const { ticket } = yield* Context.get(first, Tickets).issue({ ...grant, group: null, sockets: 7 })
      const { send } = Context.get(first, Valkey)
      const keys = yield* send("KEYS", "fathom:ticket:*")
      assert.isArray(keys)
      assert.notInclude(JSON.stringify(keys), ticket)
      const life = Number(yield* send("PTTL", String(Array.isArray(keys) ? keys[0] : "")))
      assert.isTrue(life > 0 && life <= 60_000)
      const redeemed = yield* Effect.forEach(
        [first, second, first, second],
        (context) => Context.get(context, Tickets).redeem(ticket),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        redeemed.filter((one) => one !== null),
        [{ ...grant, group: null, sockets: 7 }]
      )
    }).pipe(Effect.scoped)
  )

  it.live("fails while Valkey is away, and keeps a ticket valid that could not be redeemed", () =>
    Effect.gen(function* () {
      const own = yield* server
      const context = yield* Layer.build(over(ValkeyRedis.layer(own.url)))
      const [tickets, valkey] = [Context.get(context, Tickets), Context.get(context, Valkey)]
      const { ticket } = yield* tickets.issue(grant)
      yield* own.freeze
      yield* until("away", () => !valkey.isUp())
      assert.strictEqual((yield* Effect.flip(tickets.issue(grant)))._tag, "TicketsUnavailable")
      assert.strictEqual((yield* Effect.flip(tickets.redeem(ticket)))._tag, "TicketsUnavailable")
      yield* own.thaw
      yield* until("back", () => valkey.isUp())
      assert.deepStrictEqual(yield* tickets.redeem(ticket), grant)
    }).pipe(Effect.scoped)
  )
})
