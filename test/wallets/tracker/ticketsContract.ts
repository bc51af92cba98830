import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import { DEFAULT_PLAN } from "../../../src/api/schemas/Plan.ts"
import { type Grant, Tickets } from "../../../src/wallets/tracker/Tickets.ts"
import { addressOf } from "../../callouts/callouts.ts"

export const grant: Grant = {
  keyId: "key_a",
  session: null,
  accountId: "account_a",
  wallets: [addressOf(1)],
  group: null,
  control: false,
  streamId: "str_1"
}

/** Tickets of any layer, which is built for each test and begins empty. */
export const ticketsContract = <E>(name: string, layer: Layer.Layer<Tickets, E>) =>
  describe(`${name}`, () => {
    it.effect("redeems a ticket once, also under concurrent requests", () =>
      Effect.gen(function* () {
        const tickets = yield* Tickets
        const { ticket } = yield* tickets.issue(grant)
        const redeemed = yield* Effect.forEach(Array.from({ length: 10 }), () => tickets.redeem(ticket), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(
          redeemed.filter((one) => one !== null),
          [grant]
        )
      }).pipe(Effect.provide(layer))
    )

    it.effect("returns null for an invalid ticket", () =>
      Effect.gen(function* () {
        const tickets = yield* Tickets
        const { expiresAtMs, ticket } = yield* tickets.issue(grant)
        assert.strictEqual(expiresAtMs, 60_000)
        for (const text of ["", "tkt_", `${ticket}0`, ticket.toUpperCase(), `tkt_${"0".repeat(40)}`, `${ticket}\n`]) {
          assert.isNull(yield* tickets.redeem(text))
        }
      }).pipe(Effect.provide(layer))
    )

    it.effect("issues unique tickets", () =>
      Effect.gen(function* () {
        const tickets = yield* Tickets
        const made = yield* Effect.forEach(Array.from({ length: 200 }), () => tickets.issue(grant))
        assert.strictEqual(new Set(made.map(({ ticket }) => ticket)).size, 200)
      }).pipe(Effect.provide(layer))
    )

    it.effect("allows ten calls a minute for each key", () =>
      Effect.gen(function* () {
        const tickets = yield* Tickets
        for (let i = 0; i < 10; i++) {
          yield* tickets.enter("key_a", DEFAULT_PLAN)
          yield* TestClock.adjust("1 second")
        }
        assert.deepInclude(yield* Effect.flip(tickets.enter("key_a", DEFAULT_PLAN)), { retryAfterMs: 50_000 })
        yield* tickets.enter("key_b", DEFAULT_PLAN)
        yield* TestClock.adjust("49999 millis")
        assert.deepInclude(yield* Effect.flip(tickets.enter("key_a", DEFAULT_PLAN)), { retryAfterMs: 1 })
        yield* TestClock.adjust("1 millis")
        yield* tickets.enter("key_a", DEFAULT_PLAN)
        yield* Effect.flip(tickets.enter("key_a", DEFAULT_PLAN))
      }).pipe(Effect.provide(layer))
    )

    it.effect("lets a key with 300 connections open all of them in a minute", () =>
      Effect.gen(function* () {
        const tickets = yield* Tickets
        const enter = tickets.enter("key_c", { sockets: 300 })
        yield* Effect.forEach(Array.from({ length: 600 }), () => enter, { discard: true })
        assert.deepInclude(yield* Effect.flip(enter), { calls: 600 })
      }).pipe(Effect.provide(layer))
    )
  })
