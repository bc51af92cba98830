import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Stream } from "effect"
import { Idempotency } from "../../../src/access/Idempotency.ts"
import { IdempotencyUnavailable } from "../../../src/domain/Idempotency.ts"
import { MAIN_GROUP, MAX_TRACKED_WALLETS } from "../../../src/api/schemas/Tracker.ts"
import { Listening } from "../../../src/http/server/NodeServer.ts"
import { Tickets } from "../../../src/wallets/tracker/Tickets.ts"
import { TrackerStore } from "../../../src/wallets/tracker/TrackerStore.ts"
import { addressOf } from "../../callouts/callouts.ts"
import { secretOf } from "../../support/http.ts"
import { assertDetail, assertRefused, later, listed, serving, track, untrack, WALLETS } from "./trackerCalls.ts"

const [fern, moss] = [addressOf(1), addressOf(2)]
const named = (key: string) => ({ "idempotency-key": key })

layer(serving())("Idempotency-Key on POST /api/v1/tracker/wallets", (it) => {
  it.effect("repeats status and body without a second effect", () =>
    Effect.gen(function* () {
      yield* later()
      const first = yield* track("a", { wallet: fern, label: "desk" }, named("first-time"))
      assert.strictEqual(first.status, 201)
      assert.isNull(first.headers.get("idempotency-replayed"))
      yield* untrack("a", fern)
      // The same JSON in another spelling.
      const again = yield* track("a", `{ "label": "desk",\n "wallet": "${fern}" }`, named("first-time"))
      assert.strictEqual(again.status, 201)
      assert.strictEqual(again.text, first.text)
      assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
      assert.strictEqual(again.headers.get("x-ratelimit-cost"), "1")
      assert.notStrictEqual(again.headers.get("x-request-id"), first.headers.get("x-request-id"))
      assert.include(again.headers.get("access-control-expose-headers"), "Idempotency-Replayed")
      assert.match(again.headers.get("content-type") ?? "", /^application\/json/u)
      assert.deepStrictEqual(yield* listed("a"), [])
    })
  )

  it.effect("refuses another body under the same key", () =>
    Effect.gen(function* () {
      yield* track("b", { wallet: fern }, named("same-key-1"))
      for (const body of [{ wallet: moss }, { wallet: fern, label: "x" }]) {
        assertRefused(yield* track("b", body, named("same-key-1")), 422, "idempotency_key_reuse")
      }
      assert.lengthOf(yield* listed("b"), 1)
      assert.strictEqual((yield* track("b", { wallet: fern }, named("same-key-1"))).status, 201)
    })
  )

  it.effect("keeps the keys of different API keys apart, also of one account", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* track("m", { wallet: fern }, named("apart-key"))).status, 201)
      assert.strictEqual((yield* track("n", { wallet: fern }, named("apart-key"))).status, 200)
      assert.strictEqual((yield* track("c", { wallet: moss }, named("apart-key"))).status, 201)
    })
  )

  it.effect("repeats a refusal as it was, and lets a body be corrected that was never taken up", () =>
    Effect.gen(function* () {
      const store = yield* TrackerStore
      for (let i = 0; i < MAX_TRACKED_WALLETS; i++) {
        yield* store.add({ accountId: "account_e", wallet: addressOf(100 + i), groupId: null })
      }
      const full = yield* track("e", { wallet: fern }, named("one-too-many"))
      assertRefused(full, 409, "limit_reached")
      yield* untrack("e", addressOf(100))
      const again = yield* track("e", { wallet: fern }, named("one-too-many"))
      assert.strictEqual(again.status, 409)
      assert.strictEqual(again.text, full.text)
      assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
      assertDetail(yield* track("e", { wallet: "x" }, named("corrected")), "body", "wallet", "format")
      assert.strictEqual((yield* track("e", { wallet: fern }, named("corrected"))).status, 201)
    })
  )

  it.effect("must have 8 to 128 characters of the URL-safe alphabet", () =>
    Effect.gen(function* () {
      for (const key of ["short12", "x".repeat(129), "with spaces", "with,comma", "ümlaut-key", ""]) {
        assertDetail(yield* track("f", { wallet: fern }, named(key)), "header", "Idempotency-Key", "format")
      }
      assert.deepStrictEqual(yield* listed("f"), [])
      for (const key of ["12345678", "-_".repeat(64)]) {
        assert.isBelow((yield* track("f", { wallet: fern }, named(key))).status, 300)
      }
    })
  )
})

/** A store whose first `add` waits. */
const slow = (inside: Deferred.Deferred<void>, open: Deferred.Deferred<void>) =>
  Layer.merge(
    Tickets.layerMemory,
    Layer.succeed(TrackerStore, {
      overview: () => Effect.succeed({ groups: [], wallets: [] }),
      add: () =>
        Effect.as(Effect.andThen(Deferred.succeed(inside, undefined), Deferred.await(open)), {
          groupId: MAIN_GROUP,
          isNew: true
        }),
      remove: () => Effect.succeed(false),
      addAll: () => Effect.die("this test has no batches"),
      change: () => Effect.die("this test changes no wallet"),
      createGroup: () => Effect.die("this test has no groups"),
      renameGroup: () => Effect.die("this test has no groups"),
      removeGroup: () => Effect.die("this test has no groups"),
      recordActivity: () => Effect.void,
      changes: Stream.never
    })
  )

const [inside, open] = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()]

layer(serving({ tracker: slow(inside, open) }))("a request that is still running", (it) => {
  it.effect("is answered 409 when it comes again, and is done though its caller has gone", () =>
    Effect.gen(function* () {
      const { url } = yield* Listening
      const abandoned = new AbortController()
      const first = yield* Effect.promise(() =>
        fetch(url + WALLETS, {
          method: "POST",
          signal: abandoned.signal,
          headers: {
            authorization: `Bearer ${secretOf("a")}`,
            "content-type": "application/json",
            ...named("in-flight")
          },
          body: JSON.stringify({ wallet: fern })
        }).catch(() => "gone")
      ).pipe(Effect.forkScoped({ startImmediately: true }))
      yield* Deferred.await(inside)
      assertRefused(yield* track("a", { wallet: fern }, named("in-flight")), 409, "idempotency_in_flight")
      assertRefused(yield* track("a", { wallet: moss }, named("in-flight")), 422, "idempotency_key_reuse")
      abandoned.abort()
      assert.strictEqual(yield* Fiber.join(first), "gone")
      yield* Deferred.succeed(open, undefined)
      const replayed = yield* track("a", { wallet: fern }, named("in-flight")).pipe(
        Effect.repeat({ until: ({ status }) => status !== 409, times: 200 })
      )
      assert.strictEqual(replayed.status, 201)
      assert.strictEqual(replayed.headers.get("idempotency-replayed"), "true")
    }).pipe(Effect.scoped)
  )
})

const down = () => new IdempotencyUnavailable({ cause: new Error("secret") })
const unavailable = Layer.succeed(Idempotency, { begin: down })
const forgetful = Layer.succeed(Idempotency, {
  begin: () => Effect.succeed({ _tag: "Fresh" as const, complete: down, abandon: down() })
})

layer(serving({ idempotency: unavailable }))("without the store of idempotency keys", (it) => {
  it.effect("changes nothing when it cannot store its idempotency key", () =>
    Effect.gen(function* () {
      const answer = yield* track("a", { wallet: fern }, named("12345678"))
      assertRefused(answer, 503, "data_unavailable")
      assert.notInclude(answer.text, "secret")
      assert.deepStrictEqual(yield* listed("a"), [])
      assert.strictEqual((yield* track("a", { wallet: fern })).status, 201)
    })
  )
})

layer(serving({ idempotency: forgetful }))("when an answer cannot be kept", (it) => {
  it.effect("answers the result of the operation all the same", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* track("a", { wallet: fern }, named("12345678"))).status, 201)
      assertDetail(yield* track("a", { wallet: fern, group: "grp_x" }, named("12345678")), "body", "group", "unknown")
    })
  )
})
