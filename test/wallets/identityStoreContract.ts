import { assert, layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { IdentityStore, MOST_LINKED } from "../../src/wallets/IdentityStore.ts"
import { OTHER, WALLET, walletOf } from "./trades.ts"
import { FULL, UNKNOWN_WALLET, recordOf, SECOND } from "./identities.ts"

const owned = (n: number, owner: string | null) => recordOf({ wallet: walletOf(n), owner })

const addresses = (...numbers: ReadonlyArray<number>) => numbers.map((n) => walletOf(n)).toSorted()

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

    it.effect("keeps the records of different sources apart, ordered by source name", () =>
      Effect.gen(function* () {
        const identities = yield* IdentityStore
        const [first, last] = [recordOf({ labels: ["first"] }), recordOf({ labels: ["last"] })]
        yield* identities.replace("c", [last])
        yield* identities.replace("b", [first])
        yield* identities.replace("a", [])
        assert.deepStrictEqual((yield* identities.of([WALLET])).get(WALLET), [first, last])
      })
    )

    it.effect("links wallets to which one source gives the same owner", () =>
      Effect.gen(function* () {
        const identities = yield* IdentityStore
        yield* identities.replace("e", [owned(1, "ann"), owned(2, "ann"), owned(3, "bob"), owned(4, null)])
        yield* identities.replace("f", [owned(3, "ann"), owned(4, "ann"), owned(5, null), owned(6, "ann")])
        const links = yield* identities.linkedTo([1, 2, 3, 4, 5, 9].map((n) => walletOf(n)))
        const linksOf = (n: number) => links.get(walletOf(n))
        assert.deepStrictEqual([1, 2, 3, 4, 5, 9].map(linksOf), [
          addresses(2),
          addresses(1),
          addresses(4, 6),
          addresses(3, 6),
          undefined,
          undefined
        ])
        assert.strictEqual((yield* identities.linkedTo([])).size, 0)
        const crowd = Array.from({ length: 20 }, (_, n) => owned(20 + n, "crowd"))
        yield* identities.replace("e", crowd)
        assert.strictEqual((yield* identities.linkedTo([walletOf(20)])).get(walletOf(20))?.length, MOST_LINKED)
        assert.isFalse((yield* identities.linkedTo([walletOf(1)])).has(walletOf(1)))
        yield* identities.replace("e", [])
        yield* identities.replace("f", [])
      })
    )

    it.effect("drops records that a source no longer has, and keeps the last of its records for a wallet", () =>
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
