import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Tickets } from "../../../src/wallets/tracker/Tickets.ts"
import { at } from "../../support/clock.ts"
import { grant, ticketsContract } from "./ticketsContract.ts"

ticketsContract("Tickets.layerMemory", Tickets.layerMemory)

it.effect("returns null for an expired ticket", () =>
  Effect.gen(function* () {
    const tickets = yield* Tickets
    const { ticket } = yield* tickets.issue(grant)
    yield* TestClock.adjust("60 seconds")
    assert.isNull(yield* tickets.redeem(ticket))
  }).pipe(Effect.provide(Tickets.layerMemory))
)

it.effect("ends a ticket after exactly a minute, even when the wall clock is set back by an hour", () =>
  Effect.gen(function* () {
    const hour = 3_600_000
    const tickets = yield* Tickets
    const late = yield* at(hour)(tickets.issue(grant))
    yield* TestClock.adjust("60 seconds")
    assert.isNull(yield* at(0)(tickets.redeem(late.ticket)))
    const early = yield* at(0)(tickets.issue(grant))
    assert.deepStrictEqual(yield* at(hour)(tickets.redeem(early.ticket)), grant)
  }).pipe(Effect.provide(Tickets.layerMemory))
)
