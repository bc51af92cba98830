import { assert, describe, it, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { AlertStore } from "../../../src/alerts/AlertStore.ts"
import { itemsOf, read, send, serving, wanted } from "../../alerts/http.ts"
import * as MemoryAlerts from "../../support/memoryAlerts.ts"

const named = { headers: { "idempotency-key": "one-and-only" } }

layer(serving())("a request that is sent again under its name", (it) => {
  it.effect("is answered as before, with 200, and sets no second alert", () =>
    Effect.gen(function* () {
      const first = yield* send("POST", "", wanted, named)
      assert.strictEqual(first.status, 201)
      const again = yield* send("POST", "", { condition: wanted.condition, mint: wanted.mint }, named)
      assert.strictEqual(again.status, 200)
      assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
      assert.strictEqual(again.text, first.text)
      assert.strictEqual(itemsOf((yield* read("")).text).length, 1)
      const other = yield* send("POST", "", { ...wanted, note: "another" }, named)
      assert.deepStrictEqual([other.status, other.json("error.code")], [422, "idempotency_key_reuse"])
      // Names of other keys have nothing to do with it.
      assert.strictEqual((yield* send("POST", "", wanted, { ...named, key: "b" })).status, 201)
      const short = yield* send("POST", "", wanted, { headers: { "idempotency-key": "short" } })
      assert.strictEqual(short.status, 400)
      assert.deepStrictEqual(short.json("error.details"), [{ in: "header", field: "Idempotency-Key", issue: "format" }])
    })
  )

  it.effect("is refused again where it was refused", () =>
    Effect.gen(function* () {
      const late = { ...wanted, expiresAtMs: 1 }
      const name = { headers: { "idempotency-key": "never-good" } }
      const [first, again] = [yield* send("POST", "", late, name), yield* send("POST", "", late, name)]
      assert.deepStrictEqual([first.status, again.status], [400, 400])
      assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
    })
  )
})

describe("a request that is sent again", () => {
  it.effect("while it is still running is 409", () =>
    Effect.gen(function* () {
      const [begun, gate] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const store = Layer.effect(
        AlertStore,
        Effect.map(AlertStore, (inner) =>
          AlertStore.of({
            ...inner,
            create: (alert) =>
              Deferred.succeed(begun, undefined).pipe(
                Effect.andThen(Deferred.await(gate)),
                Effect.andThen(inner.create(alert))
              )
          })
        )
      ).pipe(Layer.provide(MemoryAlerts.layer))
      yield* Effect.gen(function* () {
        const first = yield* Effect.forkChild(send("POST", "", wanted, named))
        yield* Deferred.await(begun)
        const meanwhile = yield* send("POST", "", wanted, named)
        assert.deepStrictEqual([meanwhile.status, meanwhile.json("error.code")], [409, "idempotency_in_flight"])
        yield* Deferred.succeed(gate, undefined)
        assert.strictEqual((yield* Fiber.join(first)).status, 201)
        assert.strictEqual((yield* send("POST", "", wanted, named)).status, 200)
      }).pipe(Effect.provide(serving({ store })))
    })
  )
})
