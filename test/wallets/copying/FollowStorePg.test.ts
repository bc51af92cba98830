import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { FollowStore } from "../../../src/wallets/copying/FollowStore.ts"
import * as FollowStorePg from "../../../src/wallets/copying/FollowStorePg.ts"
import * as Proxy from "../../support/Proxy.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { copyOf, followOf } from "./copies.ts"
import { copyTurnContract } from "./copyTurnContract.ts"
import { followStoreContract } from "./followStoreContract.ts"

/** A follow store in a process of its own. */
const open = (address: TestDatabase.TestAddress) =>
  Effect.map(Layer.build(FollowStorePg.layer.pipe(Layer.provide(TestDatabase.connect(address)))), (context) =>
    FollowStore.of(Context.get(context, FollowStore))
  )

const fill = (number: number) => copyOf({ followId: "cf_shared", number, side: "buy", tokens: 5n, usdNanos: 9n })

describe.runIf(TestDatabase.isAvailable)("the contract", () => {
  followStoreContract("FollowStorePg.layer", FollowStorePg.layer.pipe(Layer.provide(TestDatabase.layer)))
  copyTurnContract("FollowStorePg.layer", FollowStorePg.layer.pipe(Layer.provide(TestDatabase.layer)))
})

describe.runIf(TestDatabase.isAvailable)("the follows of a database", { concurrent: true }, () => {
  it.live("count a fill once, whichever processes record it", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const [here, there] = [yield* open(address), yield* open(address)]
      yield* here.recordFollow(followOf("cf_shared"))
      const recorded = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? here : there)),
        (store, i) => store.recordFill(fill(i % 5)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(recorded.filter((isNew) => isNew).length, 5)
      assert.deepInclude(yield* there.find("acct_a", "cf_shared"), { counts: { filled: 5, failed: 0, skipped: 0 } })
    })
  )

  it.live("are unavailable within the deadline while the database is frozen, and available after it", () =>
    Effect.gen(function* () {
      const proxy = yield* Proxy.make(yield* TestDatabase.create)
      const store = yield* open(proxy.address)
      yield* store.recordFollow(followOf("cf_shared"))
      yield* proxy.freeze
      for (const question of [
        store.find("acct_a", "cf_shared"),
        store.follows({ accountId: "acct_a", status: null, limit: 5, after: null }),
        store.progress("acct_a"),
        store.inTurn({ accountId: "acct_a", followId: "cf_shared", after: 0, through: 9 })
      ]) {
        const [took, error] = yield* Effect.timed(Effect.flip<unknown, { readonly _tag: string }, never>(question))
        assert.strictEqual(error._tag, "FollowStoreUnavailable")
        assert.isBelow(Duration.toMillis(took), Proxy.UNANSWERED_MS)
      }
      yield* proxy.thaw
      assert.strictEqual((yield* Effect.eventually(store.find("acct_a", "cf_shared")))?.id, "cf_shared")
    })
  )

  it.live("are unavailable without their tables", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const store = yield* open(address)
      const sql = Context.get(yield* Layer.build(TestDatabase.connect(address)), SqlClient.SqlClient)
      yield* sql`drop table copy_follows cascade`
      for (const question of [store.recordFollow(followOf("cf_shared")), store.recordFill(fill(1))]) {
        assert.strictEqual((yield* Effect.flip(question))._tag, "FollowStoreUnavailable")
      }
    })
  )
})
