import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as AlertStorePg from "../../../src/alerts/AlertStorePg.ts"
import { Tickets } from "../../../src/wallets/tracker/Tickets.ts"
import * as TrackerStorePg from "../../../src/wallets/tracker/TrackerStorePg.ts"
import { WatchList } from "../../../src/wallets/tracker/WatchList.ts"
import { wanted } from "../../alerts/http.ts"
import { addressOf } from "../../callouts/callouts.ts"
import { call, keyOf, noEvaluator, running } from "../../support/http.ts"
import { cutOff } from "../../support/lostConnection.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

const keys = [keyOf("a", { scopes: ["tracker.read", "alerts.read", "alerts.write"] })]

const serving = (address: TestDatabase.TestAddress) => {
  const database = TestDatabase.connect(address)
  const tracker = TrackerStorePg.layer.pipe(Layer.provide([database, Layer.fresh(WatchList.layer)]))
  return running({
    keys,
    tracker: Layer.merge(tracker, Tickets.layerMemory),
    alerts: Layer.merge(AlertStorePg.layer.pipe(Layer.provide(database)), noEvaluator)
  })
}

const writes = [
  ["tracked_wallets", "/api/v1/tracker/wallets", { wallet: addressOf(1) }],
  ["alerts", "/api/v1/alerts", wanted]
] as const

describe.runIf(TestDatabase.isAvailable)("a write whose connection is lost", { concurrent: true }, () => {
  for (const [table, path, body] of writes) {
    it.live(`is answered 503 at POST ${path}, and 201 or 200 when it is repeated`, () =>
      Effect.gen(function* () {
        const address = yield* TestDatabase.create
        yield* Effect.gen(function* () {
          const headers = { "content-type": "application/json" }
          const post = call(path, { method: "POST", headers, body: JSON.stringify(body) })
          const lost = yield* yield* cutOff(address, table, post)
          assert.strictEqual(lost.status, 503, lost.text)
          assert.strictEqual(lost.json("error.code"), "data_unavailable")
          assert.match(lost.headers.get("retry-after") ?? "", /^[1-9]/u)
          const again = yield* post
          assert.include([200, 201], again.status, again.text)
        }).pipe(Effect.provide(serving(address)))
      })
    )
  }
})
