import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { makeContact } from "../../../src/market/history/contact.ts"
import { ClickHouse, ClickHouseUnavailable } from "../../../src/storage/clickhouse/ClickHouse.ts"
import { makeTables } from "../../support/clickhouse/tables.ts"

const refused = Effect.fail(new ClickHouseUnavailable({ cause: new Error("too many parts") }))

const contactOf = (client: ClickHouse["Service"]) => Effect.provideService(makeContact(Effect.void), ClickHouse, client)

describe("the contact with ClickHouse", () => {
  it.effect("is away after a refused write until a write succeeds, while trades wait", () =>
    Effect.gen(function* () {
      const contact = yield* contactOf(makeTables().client)
      yield* contact.beat(() => true)
      assert.isFalse(contact.isAway())
      yield* Effect.flip(contact.write(refused))
      yield* contact.beat(() => true)
      assert.isTrue(contact.isAway())
      assert.strictEqual((yield* Effect.flip(contact.read(Effect.void)))._tag, "TradeStoreUnavailable")
      yield* contact.write(Effect.void)
      assert.isFalse(contact.isAway())
      yield* Effect.flip(contact.write(refused))
      // Nothing waits that could be written.
      yield* contact.beat(() => false)
      assert.isFalse(contact.isAway())
    }).pipe(Effect.scoped)
  )

  it.effect("fails reads that wait for the tables together with the first read", () =>
    Effect.gen(function* () {
      const { client } = makeTables()
      const end = yield* Deferred.make<never, ClickHouseUnavailable>()
      let statements = 0
      const run = () => {
        statements += 1
        return Deferred.await(end)
      }
      const contact = yield* contactOf({ ...client, run })
      const reads = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(contact.read(Effect.void)))
      yield* Effect.yieldNow
      yield* Deferred.fail(end, new ClickHouseUnavailable({ cause: new Error("away") }))
      const ends = yield* Effect.forEach(reads, Fiber.await)
      assert.isTrue(ends.every(Exit.isFailure))
      assert.strictEqual(statements, 1)
      assert.isTrue(contact.isAway())
    }).pipe(Effect.scoped)
  )
})
