import { assert, describe, it, layer } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import { KeyStore } from "../../../src/access/KeyStore.ts"
import { RateLimiter } from "../../../src/access/RateLimiter.ts"
import { KeyStoreUnavailable } from "../../../src/api/schemas/ApiKey.ts"
import { LimiterUnavailable } from "../../../src/api/schemas/Budget.ts"
import { clientAddress } from "../../../src/http/middleware/clientAddress.ts"
import { type Answer, call, keyOf, secretOf } from "../../support/http.ts"
import { probing } from "../../support/probe.ts"
import * as MemoryKeys from "../../support/memoryKeys.ts"

const assertRefused = (answer: Answer, status: number, code: string) => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.strictEqual(answer.json("error.code"), code)
}

const keys = [
  keyOf("a"),
  keyOf("d", { disabledAtMs: 0 }),
  keyOf("r", { revokedAtMs: 0 }),
  keyOf("p", { scopes: ["perps.read"] }),
  keyOf("h", { ipPolicy: ["127.0.0.0/8"] }),
  keyOf("f", { ipPolicy: ["203.0.113.0/24"] })
]

layer(probing({ keys }))("a key", (it) => {
  it.effect("is asked for", () =>
    Effect.gen(function* () {
      const answer = yield* call("/probe/free", { key: null })
      assertRefused(answer, 401, "missing_api_key")
      assert.strictEqual(answer.headers.get("www-authenticate"), "Bearer")
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
    })
  )

  it.effect("is a bearer token and nothing else", () =>
    Effect.gen(function* () {
      for (const authorization of [`Basic ${secretOf("a")}`, secretOf("a"), "Bearer", "Bearer "]) {
        assertRefused(yield* call("/probe/free", { key: null, headers: { authorization } }), 401, "missing_api_key")
      }
      const lowerCase = yield* call("/probe/free", { key: null, headers: { authorization: `bearer ${secretOf("a")}` } })
      assert.strictEqual(lowerCase.status, 200)
    })
  )

  it.effect("is refused in the same way when it is malformed, unknown or revoked", () =>
    Effect.gen(function* () {
      for (const secret of ["x", `${secretOf("a")}x`, secretOf("z"), secretOf("r")]) {
        const answer = yield* call("/probe/free", { key: null, headers: { authorization: `Bearer ${secret}` } })
        assertRefused(answer, 401, "invalid_api_key")
        assert.strictEqual(answer.headers.get("www-authenticate"), "Bearer")
      }
    })
  )

  it.effect("is refused as disabled when its owner has switched it off", () =>
    Effect.gen(function* () {
      assertRefused(yield* call("/probe/free", { key: "d" }), 403, "key_disabled")
    })
  )

  it.effect("needs the scope of the endpoint, which is named", () =>
    Effect.gen(function* () {
      const answer = yield* call("/probe/perps", { key: "a" })
      assertRefused(answer, 403, "missing_scope")
      assert.deepStrictEqual(answer.json("error.details"), [{ in: "header", field: "perps.read", issue: "missing" }])
      assert.strictEqual((yield* call("/probe/perps", { key: "p" })).status, 200)
      assertRefused(yield* call("/probe/free", { key: "p" }), 403, "missing_scope")
    })
  )

  it.effect("works from the addresses of its policy only", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* call("/probe/free", { key: "h" })).status, 200)
      assertRefused(yield* call("/probe/free", { key: "f" }), 403, "ip_not_allowed")
    })
  )

  it.effect("ignores a forwarded address that no trusted proxy appended", () =>
    Effect.gen(function* () {
      const answer = yield* call("/probe/free", { key: "f", headers: { "x-forwarded-for": "203.0.113.7" } })
      assertRefused(answer, 403, "ip_not_allowed")
    })
  )

  it.effect("is checked before the query", () =>
    Effect.gen(function* () {
      assertRefused(yield* call("/probe/free?x=1", { key: null }), 401, "missing_api_key")
    })
  )

  it.effect("reads no part of a request that it refuses", () =>
    Effect.gen(function* () {
      const answer = yield* call("/probe/ladder", { key: "z", method: "POST", body: "{".repeat(20_000) })
      assertRefused(answer, 401, "invalid_api_key")
    })
  )
})

const forwarded = (address: string) => call("/probe/free", { key: "f", headers: { "x-forwarded-for": address } })

layer(probing({ keys, settings: { trustedHops: 1 } }))("behind one trusted proxy", (it) => {
  it.effect("the last forwarded address counts", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* forwarded("203.0.113.7")).status, 200)
      assertRefused(yield* forwarded("203.0.113.7, 198.51.100.1"), 403, "ip_not_allowed")
      assertRefused(yield* call("/probe/free", { key: "f" }), 403, "ip_not_allowed")
    })
  )
})

const through = (trustedHops: number) =>
  clientAddress({ peer: "10.0.0.1", forwardedFor: "1.1.1.1, 2.2.2.2", trustedHops })

describe("clientAddress", () => {
  it("counts trusted hops from the right", () => {
    assert.strictEqual(through(0), "10.0.0.1")
    assert.strictEqual(through(1), "2.2.2.2")
    assert.strictEqual(through(2), "1.1.1.1")
    assert.isNull(through(3))
  })
})

type Keys = KeyStore["Service"]
type Limiter = RateLimiter["Service"]

/** A store of one key whose look-up is replaced. */
const keyStoreThat = (authenticate: Keys["authenticate"]) =>
  Layer.effect(
    KeyStore,
    Effect.map(KeyStore, (store) => KeyStore.of({ ...store, authenticate }))
  ).pipe(Layer.provide(MemoryKeys.layer({ keys })))

const limiterThat = (methods: Partial<Limiter>) =>
  Layer.effect(
    RateLimiter,
    Effect.map(RateLimiter, (limiter) => RateLimiter.of({ ...limiter, ...methods }))
  ).pipe(Layer.provide(RateLimiter.layerMemory))

const frozen = Effect.uninterruptible(Effect.never)

const outages = [
  [
    "a key store that fails",
    { keyStore: keyStoreThat(() => new KeyStoreUnavailable({ cause: "down" })) },
    "data_unavailable"
  ],
  ["a key store that throws", { keyStore: keyStoreThat(() => Effect.die("broken")) }, "data_unavailable"],
  ["a key store that is frozen", { keyStore: keyStoreThat(() => frozen) }, "data_unavailable"],
  [
    "a limiter that fails",
    { limiter: limiterThat({ admit: () => new LimiterUnavailable({ cause: "down" }) }) },
    "limiter_unavailable"
  ],
  ["a limiter that throws", { limiter: limiterThat({ admit: () => Effect.die("broken") }) }, "limiter_unavailable"],
  ["a limiter that is frozen", { limiter: limiterThat({ admit: () => frozen }) }, "limiter_unavailable"]
] as const

describe("an outage is never a free pass:", () => {
  for (const [what, world, code] of outages) {
    layer(probing(world), { excludeTestServices: true })((it) => {
      it.effect(`${what} is 503 ${code}, and soon`, () =>
        Effect.gen(function* () {
          const answer = yield* call("/probe/read").pipe(Effect.timeout("10 seconds"))
          assertRefused(answer, 503, code)
          assert.strictEqual(answer.headers.get("retry-after"), "1")
          assert.isFalse(answer.headers.has("x-ratelimit-limit"))
        })
      )
    })
  }
})

describe("a limiter that answers too late", () => {
  it.live("has its charge returned", () =>
    Effect.gen(function* () {
      const late = yield* Deferred.make<void>()
      const refunded = yield* Deferred.make<number>()
      const limiter = Layer.effect(
        RateLimiter,
        Effect.map(RateLimiter, (inner) =>
          RateLimiter.of({
            ...inner,
            admit: (request) => Effect.uninterruptible(Effect.andThen(Deferred.await(late), inner.admit(request))),
            refund: (charge) => Effect.tap(inner.refund(charge), () => Deferred.succeed(refunded, charge.cost))
          })
        )
      ).pipe(Layer.provide(RateLimiter.layerMemory))
      yield* Effect.gen(function* () {
        assertRefused(yield* call("/probe/read"), 503, "limiter_unavailable")
        yield* Deferred.succeed(late, undefined)
        assert.strictEqual(yield* Deferred.await(refunded), 1)
      }).pipe(Effect.provide(probing({ limiter })))
    })
  )
})
