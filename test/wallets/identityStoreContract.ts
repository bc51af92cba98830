import { assert, layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { IdentityStore } from "../../src/wallets/IdentityStore.ts"
import { OTHER, WALLET } from "./trades.ts"
import { FULL, UNKNOWN_WALLET, recordOf, SECOND } from "./identities.ts"

/** Contract of every identity store. */
export const identityStoreContract = <E>(name: string, store: Layer.Layer<IdentityStore, E>) =>
  layer(store)(name, (it) => {
    it.effect("returns records exactly as stored, and none for other wallets", () =>
      Effect.gen(function* () {
        const identities = yield* IdentityStore
        yield* identities.replace("a", [FULL, SECOND])
        const found = yield* identities.of([WALLET, UNKNOWN_WALLET, OTHER])
        assert.deepStrictEqual(found.get(WALLET), [FULL])
        assert.deepStrictEqual(found.get(OTHER), [SECOND])
        assert.isFalse(found.has(UNKNOWN_WALLET))
        assert.strictEqual((yield* identities.of([])).size, 0)
      })
    )

    it.effect("keeps the records of each source apart, ordered by source name", () =>
      Effect.gen(function* () {
        const identities = yield* IdentityStore
        const [first, last] = [recordOf({ labels: ["first"] }), recordOf({ labels: ["last"] })]
        yield* identities.replace("c", [last])
        yield* identities.replace("b", [first])
        yield* identities.replace("a", [])
        assert.deepStrictEqual((yield* identities.of([WALLET])).get(WALLET), [first, last])
      })
    )

    it.effect("drops records that a source no longer has, and keeps its last record of a wallet", () =>
      Effect.gen(function* () {
        const identities = yield* IdentityStore
        yield* identities.replace("d", [SECOND, FULL])
        yield* identities.replace("d", [FULL, recordOf({ labels: ["later"] })])
        const found = yield* identities.of([OTHER, WALLET])
        assert.isFalse(found.has(OTHER))
        assert.deepStrictEqual(found.get(WALLET)?.at(-1), recordOf({ labels: ["later"] }))
      })
    )
  })
