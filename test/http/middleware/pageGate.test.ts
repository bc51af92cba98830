import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { call, running } from "../../support/http.ts"

const from = (address: string) => ({ key: null, headers: { "x-forwarded-for": address } })

layer(running({ settings: { pageRequests: 5, trustedHops: 1 } }))("pages and documents", (it) => {
  it.effect("have a budget for each address, and say when it has room again", () =>
    Effect.gen(function* () {
      const paths = ["/openapi.json", "/llms.txt", "/changelog", "/docs/spot.md", "/assets/none.js"]
      for (const path of paths) {
        assert.notStrictEqual((yield* call(path, from("192.0.2.1"))).status, 429, path)
        yield* TestClock.adjust("1 second")
      }
      const refused = yield* call("/asyncapi.json", from("192.0.2.1"))
      assert.strictEqual(refused.status, 429)
      assert.strictEqual(refused.json("error.code"), "rate_limited")
      assert.strictEqual(refused.headers.get("retry-after"), "55")
      assert.strictEqual((yield* call("/openapi.json", from("192.0.2.2"))).status, 200, "another address")
      yield* TestClock.adjust("54 seconds")
      assert.strictEqual((yield* call("/openapi.json", from("192.0.2.1"))).status, 429)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* call("/openapi.json", from("192.0.2.1"))).status, 200, "a refusal is not counted")
    })
  )

  it.effect("leave the endpoints of the contract alone", () =>
    Effect.gen(function* () {
      for (let sent = 0; sent < 8; sent++) {
        assert.strictEqual((yield* call("/freshness", from("192.0.2.3"))).status, 200)
        assert.strictEqual((yield* call("/api/v1/account/key", { headers: from("192.0.2.3").headers })).status, 200)
      }
    })
  )

  it.effect("count a whole IPv6 network of a household as one", () =>
    Effect.gen(function* () {
      const statuses = yield* Effect.forEach([1, 2, 3, 4, 5, 6], (host) =>
        Effect.map(call("/llms.txt", from(`2001:db8:1:2::${host}`)), ({ status }) => status)
      )
      assert.deepStrictEqual(statuses, [200, 200, 200, 200, 200, 429])
    })
  )
})
