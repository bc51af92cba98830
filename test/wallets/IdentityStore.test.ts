import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { IdentityStore } from "../../src/wallets/IdentityStore.ts"
import * as IdentityStorePg from "../../src/wallets/IdentityStorePg.ts"
import * as Proxy from "../support/Proxy.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { FULL } from "./identities.ts"
import { identityStoreContract } from "./identityStoreContract.ts"
import { WALLET } from "./trades.ts"

const open = (address: TestDatabase.TestAddress) =>
  Effect.map(Layer.build(IdentityStorePg.layer.pipe(Layer.provide(TestDatabase.connect(address)))), (context) =>
    Context.get(context, IdentityStore)
  )

identityStoreContract("IdentityStore.layerMemory", IdentityStore.layerMemory)

describe.runIf(TestDatabase.isAvailable)("the contract", () => {
  identityStoreContract("IdentityStorePg.layer", IdentityStorePg.layer.pipe(Layer.provide(TestDatabase.layer)))
})

describe.runIf(TestDatabase.isAvailable)("the identities of a database", { concurrent: true }, () => {
  it.live("are shared between processes", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      yield* (yield* open(address)).replace("reviewed", [FULL])
      assert.deepStrictEqual((yield* (yield* open(address)).of([WALLET])).get(WALLET), [FULL])
    })
  )

  it.live("are unavailable within the deadline while the database is frozen, and available after it", () =>
    Effect.gen(function* () {
      const proxy = yield* Proxy.make(yield* TestDatabase.create)
      const store = yield* open(proxy.address)
      yield* store.replace("reviewed", [FULL])
      yield* proxy.freeze
      const [took, error] = yield* Effect.timed(Effect.flip(store.of([WALLET])))
      assert.strictEqual(error._tag, "IdentityStoreUnavailable")
      assert.isBelow(Duration.toMillis(took), Proxy.UNANSWERED_MS)
      yield* proxy.thaw
      assert.strictEqual((yield* Effect.eventually(store.of([WALLET]))).size, 1)
    })
  )

  it.live("are unavailable when a stored record is malformed", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const store = yield* open(address)
      const sql = Context.get(yield* Layer.build(TestDatabase.connect(address)), SqlClient.SqlClient)
      yield* store.replace("reviewed", [FULL])
      yield* sql`update wallet_identities set record = record - 'labels' || '{"labels": [7]}'`
      assert.strictEqual((yield* Effect.flip(store.of([WALLET])))._tag, "IdentityStoreUnavailable")
    })
  )
})
