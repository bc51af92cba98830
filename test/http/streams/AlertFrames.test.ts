/** Firings of alerts on the tracker's WebSocket. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { KeyStore } from "../../../src/access/KeyStore.ts"
import { KeyStoreUnavailable } from "../../../src/api/schemas/ApiKey.ts"
import { AlertStore } from "../../../src/alerts/AlertStore.ts"
import { createClient } from "../../../src/client/createClient.ts"
import type { TrackerEvent } from "../../../src/client/TrackerMemory.ts"
import { watchTracker } from "../../../src/client/watchTracker.ts"
import { Listening } from "../../../src/http/server/NodeServer.ts"
import { alertOf, ofWallet, START, tradeOf } from "../../alerts/alerts.ts"
import { call, keyOf, secretOf } from "../../support/http.ts"
import { happen, heard, liveService, opened, trackAll } from "../../support/live.ts"
import { until } from "../../support/sse.ts"
import { blockOf, walletOf } from "../../wallets/tracker/liveScene.ts"
import * as MemoryKeys from "../../support/memoryKeys.ts"

const A = walletOf(1)
const able = { scopes: ["tracker.read", "alerts.read"] } as const
const keys = [
  keyOf("a", { accountId: "mine", ...able }),
  keyOf("b", { accountId: "mine", scopes: ["tracker.read"] }),
  keyOf("c", { accountId: "other", ...able }),
  keyOf("d", { accountId: "typed", ...able }),
  keyOf("t", { accountId: "trades", ...able })
]

/** Has an alert of the account fire. */
const fire = (id: string, accountId: string) =>
  AlertStore.use(
    Effect.fnUntraced(function* (store) {
      yield* store.create(alertOf(id, { accountId }))
      const watch = { armed: false, cleared: false, mark: 1 }
      yield* store.advance([{ id, version: 1, watch, firing: { value: "10.5", observedAtMs: 1000 } }])
    })
  )

layer(liveService({ keys }))("a firing on the tracker's WebSocket", (it) => {
  it.effect("is the event of the list, for keys of its account that may read alerts", () =>
    Effect.gen(function* () {
      yield* trackAll([A], "mine")
      yield* trackAll([A], "other")
      const clients = [yield* opened("a"), yield* opened("b"), yield* opened("c")] as const
      yield* fire("al_wire", "mine")
      yield* heard(clients[0], 2)
      // A trade after it, so that nothing more of it is on the way.
      yield* happen(blockOf(1, [{ wallet: A }]))
      yield* Effect.forEach(clients, (client) =>
        until("the trade", () => client.data().some(({ type }) => type === "trade"))
      )
      const fired = clients.map((client) => client.data().filter(({ type }) => type === "alert_fired"))
      const [event] = (yield* call("/api/v1/alerts/events", { key: "a" })).json("data") as ReadonlyArray<object>
      const [{ seq, sentAtMs, type, ...fields } = { seq: -1, sentAtMs: 0, type: "" }] = fired[0] ?? []
      assert.deepStrictEqual([type, seq, typeof sentAtMs], ["alert_fired", 1, "number"])
      assert.deepStrictEqual(fields, event)
      assert.deepInclude(fields, { alertId: "al_wire", value: "10.5", delivery: ["app"] })
      assert.deepStrictEqual(fired.slice(1), [[], []])
    })
  )

  it.effect("on the trade of a wallet has the trade", () =>
    Effect.gen(function* () {
      yield* trackAll([A], "trades")
      const client = yield* opened("t")
      const store = yield* AlertStore
      yield* store.create(ofWallet("al_trade", { accountId: "trades" }))
      yield* store.fire([{ id: "al_trade", trades: [tradeOf(1, { observedAtMs: START + 1000 })] }])
      yield* heard(client, 2)
      const [event] = (yield* call("/api/v1/alerts/events", { key: "t" })).json("data") as ReadonlyArray<object>
      const frame = client.data()[1]
      assert.deepInclude(frame, { ...event, type: "alert_fired" })
      const { mint, signature, slot } = tradeOf(1)
      assert.deepInclude(frame, { mint, value: "1000" })
      assert.deepInclude(frame?.["trade"], { signature, slot, side: "buy", leftOut: 0 })
    })
  )

  it.effect("reaches the typed client, also when it fired while the connection was cut", () =>
    Effect.gen(function* () {
      yield* trackAll([A], "typed")
      const { url } = yield* Listening
      const sockets: Array<WebSocket> = []
      const events: Array<TrackerEvent> = []
      const webSocket = (address: string) => {
        const socket = new WebSocket(address)
        sockets.push(socket)
        return socket
      }
      const read = async () => {
        for await (const event of watchTracker(createClient({ baseUrl: url, key: secretOf("d") }), { webSocket })) {
          events.push(event)
        }
      }
      void read()
      const ids = () => events.flatMap((event) => (event.type === "alert_fired" ? [event.alertId] : []))
      yield* until("the snapshot", () => events.length === 1)
      yield* fire("al_before", "typed")
      yield* until("the first firing", () => ids().length === 1)
      sockets[0]?.close(4000)
      yield* until("the close", () => sockets[0]?.readyState === WebSocket.CLOSED)
      yield* fire("al_cut", "typed")
      yield* until("the second firing", () => ids().length === 2)
      assert.deepStrictEqual(ids(), ["al_before", "al_cut"])
      assert.notInclude(
        events.map(({ type }) => type),
        "gap"
      )
    })
  )
})

const down = { keys: false }
const failingKeys = Layer.effect(
  KeyStore,
  Effect.map(KeyStore, (store) =>
    KeyStore.of({
      ...store,
      list: (accountId) =>
        Effect.suspend(() =>
          down.keys ? Effect.fail(new KeyStoreUnavailable({ cause: "down" })) : store.list(accountId)
        )
    })
  )
).pipe(Layer.provide(MemoryKeys.layer({ keys })))

layer(liveService({ keyStore: failingKeys }))("a firing while keys cannot be checked", (it) => {
  it.effect("is a gap of the stream of its account, and firings go on after it", () =>
    Effect.gen(function* () {
      yield* trackAll([A], "mine")
      yield* trackAll([A], "other")
      const [mine, other] = [yield* opened("a"), yield* opened("c")]
      down.keys = true
      yield* fire("al_unchecked", "mine")
      yield* heard(mine, 2)
      down.keys = false
      yield* fire("al_checked", "mine")
      yield* fire("al_other", "other")
      yield* heard(mine, 3)
      yield* heard(other, 2)
      const [, resync, fired] = mine.data()
      assert.deepInclude(resync, { type: "snapshot", reason: "resync" })
      assert.deepInclude(resync?.["gap"], { reason: "alerts_missed" })
      assert.deepInclude(fired, { type: "alert_fired", alertId: "al_checked" })
      assert.deepInclude(other.data()[1], { type: "alert_fired", alertId: "al_other" })
    })
  )
})
