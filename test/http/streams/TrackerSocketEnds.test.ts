import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Exit, Fiber, Layer, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { WebSocket } from "ws"
import { COMMAND_LINE } from "../../../src/api/schemas/KeyAudit.ts"
import { KeyStore } from "../../../src/access/KeyStore.ts"
import type { ApiScope } from "../../../src/api/schemas/ApiKey.ts"
import { LiveSessions } from "../../../src/wallets/tracker/LiveSessions.ts"
import { TicketsUnavailable } from "../../../src/live/tickets.ts"
import { Tickets } from "../../../src/wallets/tracker/Tickets.ts"
import { keyOf } from "../../support/http.ts"
import { closing, connectTo, happen, heard, liveService, opened, sessionOf, trackAll } from "../../support/live.ts"
import { until } from "../../support/sse.ts"
import { blockOf, walletOf } from "../../wallets/tracker/liveScene.ts"
import * as MemoryKeys from "../../support/memoryKeys.ts"

const A = walletOf(1)

describe("a shutdown", () => {
  it.live("sends a notice, then closes live connections with 1012, and does not wait for them", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const settings = { drainQuiet: Duration.millis(400), drainLimit: Duration.seconds(3) }
      const context = yield* Layer.buildWithScope(liveService({ settings }), scope)
      yield* Effect.gen(function* () {
        yield* trackAll([A])
        const [controlled, plain] = [yield* opened("a"), yield* opened("a", "control=false")]
        const unused = yield* sessionOf("a")
        const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
        yield* until("the notice", () => controlled.texts.length === 2)
        assert.deepInclude(controlled.frames()[1], { type: "notice", code: "draining" })
        assert.isNull(controlled.code())
        assert.strictEqual(yield* closing(yield* connectTo(unused)), 1012)
        assert.deepStrictEqual([yield* closing(controlled), yield* closing(plain)], [1012, 1012])
        assert.lengthOf(plain.texts, 1)
        yield* Fiber.join(stopping).pipe(Effect.timeout("2 seconds"))
      }).pipe(Effect.provideContext(context))
    })
  )
})

/** Tickets of a store that is lost once they have been issued. */
const lostTickets = Layer.effect(
  Tickets,
  Effect.map(Tickets, (tickets) =>
    Tickets.of({ ...tickets, redeem: () => Effect.fail(new TicketsUnavailable({ cause: "down" })) })
  )
).pipe(Layer.provide(Tickets.layerMemory))

describe("a ticket that cannot be looked up", () => {
  it.live("is closed with 1012, to be tried again", () =>
    Effect.gen(function* () {
      yield* trackAll([A])
      assert.strictEqual(yield* closing(yield* connectTo(yield* sessionOf("a"))), 1012)
    }).pipe(Effect.scoped, Effect.provide(liveService({}, lostTickets)))
  )
})

describe("a reader that stops reading", () => {
  it.live("is closed with 1013, while another of the same wallet hears everything", () =>
    Effect.gen(function* () {
      yield* trackAll([A])
      const [stopped, reading] = [yield* opened("a"), yield* opened("a")]
      const { load } = yield* LiveSessions
      stopped.ws.pause()
      // Until it is given up, and no longer: it has a few seconds to hear why.
      for (let slot = 1; load().connections === 2; slot++) {
        const deals = Array.from({ length: 250 }, () => ({ wallet: A }))
        // Trades before the wallet was tracked are not sent, and the clock is real here.
        yield* happen(blockOf(slot, deals, { timeMs: yield* Clock.currentTimeMillis }))
        const trades = slot * 250
        yield* until(`${trades} trades`, () => reading.texts.length > trades)
      }
      stopped.ws.resume()
      assert.strictEqual(yield* closing(stopped), 1013)
      const seqs = stopped.data().map(({ seq }) => seq)
      assert.deepStrictEqual(
        seqs,
        seqs.map((_, seq) => seq)
      )
      assert.deepInclude(stopped.frames().at(-1), { type: "notice", code: "slow_consumer" })
      assert.isBelow(stopped.texts.length, reading.texts.length)
      assert.isNull(reading.code())
    }).pipe(Effect.provide(liveService()))
  )
})

/** A key store that never announces a change of a key. */
const silentKeys = (scopes: { current: ReadonlyArray<ApiScope> }) =>
  Layer.effect(
    KeyStore,
    Effect.map(KeyStore, (store) =>
      KeyStore.of({
        ...store,
        closures: Stream.never,
        list: (accountId) =>
          Effect.map(store.list(accountId), (keys) => keys.map((key) => ({ ...key, scopes: scopes.current })))
      })
    )
  ).pipe(Layer.provide(MemoryKeys.layer({ keys: [keyOf("a"), keyOf("b", { accountId: "b" })] })))

describe("a key that changed unheard", () => {
  it.effect("ends its connections within 15 seconds, whether it lost its scope or was revoked", () => {
    const scopes = { current: ["tracker.read"] as ReadonlyArray<ApiScope> }
    return Effect.gen(function* () {
      yield* trackAll([A])
      yield* trackAll([A], "b")
      const [mine, revoked] = [yield* opened("a"), yield* opened("b")]
      yield* TestClock.adjust("15 seconds")
      yield* happen(blockOf(1, [{ wallet: A }]))
      yield* heard(mine, 2)
      yield* KeyStore.use((store) => store.revoke("key_b", COMMAND_LINE))
      yield* TestClock.adjust("15 seconds")
      assert.strictEqual(yield* closing(revoked), 4403)
      assert.isNull(mine.code())
      scopes.current = ["copy.read"]
      yield* TestClock.adjust("15 seconds")
      assert.strictEqual(yield* closing(mine), 4403)
    }).pipe(Effect.provide(liveService({ keyStore: silentKeys(scopes) })))
  })
})

describe("a flood of control frames", () => {
  it.live("ends with a close frame, whether pings, pongs or messages", () =>
    Effect.gen(function* () {
      yield* trackAll([A])
      const kinds: ReadonlyArray<(ws: WebSocket) => void> = [
        (ws) => ws.ping(),
        (ws) => ws.pong(),
        (ws) => ws.send('{"op":"ping"}')
      ]
      for (const send of kinds) {
        const client = yield* opened("a")
        for (let sent = 0; sent < 1000; sent++) {
          send(client.ws)
        }
        assert.strictEqual(yield* closing(client), 4429)
      }
    }).pipe(Effect.scoped, Effect.provide(liveService({})))
  )

  it.live("does not end a client that pings now and then", () =>
    Effect.gen(function* () {
      yield* trackAll([A])
      const client = yield* opened("a")
      let pongs = 0
      client.ws.on("pong", () => pongs++)
      client.ws.ping()
      client.ws.ping()
      yield* until("both answers", () => pongs === 2)
      assert.isNull(client.code())
    }).pipe(Effect.scoped, Effect.provide(liveService({})))
  )
})
