import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
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
