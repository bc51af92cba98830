import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { marketEvents } from "../../../src/http/streams/marketStream.ts"
import { call, running } from "../../support/http.ts"
import { USDC } from "../../../src/domain/Address.ts"

layer(running())("an event stream of the market", (it) => {
  it.effect("is refused, not left open, where its first frame cannot be made", () =>
    Effect.gen(function* () {
      // The candles of this service fail with a defect.
      const answer = yield* call(`/api/v1/market/candles/stream?mint=${USDC}&resolution=1m`)
      assert.strictEqual(answer.status, 503, answer.text)
      assert.include(answer.text, '"code":"data_unavailable"')
      assert.isNotNull(answer.headers.get("retry-after"))
    })
  )
})

describe("an event stream whose connection is closed before its first frame", () => {
  it.effect("ends at once with an error that its request answers", () =>
    Effect.gen(function* () {
      const { began, wire } = yield* marketEvents("str_1", yield* Effect.withFiber(Effect.succeed))
      wire.close(4403, "the key may no longer do this")
      // Without the end its request would wait for frames that never come.
      assert.deepInclude(yield* began, {
        type: "ended",
        code: "data_unavailable",
        message: "The stream ended: the key may no longer do this."
      })
    })
  )
})
