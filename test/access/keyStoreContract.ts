import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, type Layer, Redacted, Stream } from "effect"
import { KeyStore } from "../../src/access/KeyStore.ts"
import { makeSecret } from "../../src/access/keyFormat.ts"
import { MAX_ACTIVE_KEYS } from "../../src/domain/ApiKey.ts"
import { at } from "../support/clock.ts"

const issue = Effect.fnUntraced(function* (accountId: string, name = "bot") {
  const keys = yield* KeyStore
  return yield* keys.issue({ accountId, name, scopes: ["md.read"], ipPolicy: null })
})

/** Contract of every key store. Each test has an account of its own. */
export const keyStoreContract = <E>(name: string, store: Layer.Layer<KeyStore, E>) =>
  layer(store, { timeout: "1 minute", excludeTestServices: true })(name, (it) => {
    it.effect("issues a key that its secret opens", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const request = { accountId: "issue", name: "Bot — 1", scopes: ["md.read", "alerts.write"] as const }
        const { key, secret } = yield* keys.issue({ ...request, ipPolicy: ["10.0.0.0/8"] }).pipe(at(1_700_000_000_123))
        assert.deepInclude(key, { ...request, ipPolicy: ["10.0.0.0/8"], createdAtMs: 1_700_000_000_123 })
        assert.deepInclude(key, { lastUsedAtMs: null, disabledAtMs: null, revokedAtMs: null, prefix: "svc_live_" })
        assert.strictEqual(key.lastFour, Redacted.value(secret).slice(-4))
        assert.strictEqual((yield* keys.authenticate(secret)).id, key.id)
      })
    )

    it.effect("distinguishes keys of one account", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const [one, two] = [yield* issue("pair"), yield* issue("pair")]
        assert.notStrictEqual(one.key.id, two.key.id)
        assert.strictEqual((yield* keys.authenticate(two.secret)).id, two.key.id)
        assert.strictEqual((yield* keys.authenticate(one.secret)).id, one.key.id)
      })
    )

    it.effect("refuses secrets that are malformed, mistyped, or well formed and never issued", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const { secret } = yield* issue("wrong-secrets")
        const mistyped = Redacted.make(Redacted.value(secret).replace("live", "test"))
        const foreign = makeSecret("live", (size) => new Uint8Array(size).fill(9))
        for (const wrong of [Redacted.make(""), Redacted.make("unknown\0"), mistyped, foreign, foreign]) {
          assert.strictEqual((yield* Effect.flip(keys.authenticate(wrong)))._tag, "UnknownKey")
        }
      })
    )

    it.effect("remembers when a key was last used, to the second", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const { secret } = yield* issue("usage")
        const lastUsed = Effect.map(keys.list("usage"), ([key]) => key?.lastUsedAtMs)
        const useAt = (nowMs: number) =>
          Effect.map(keys.authenticate(secret), (key) => key.lastUsedAtMs).pipe(at(nowMs))
        assert.isNull(yield* lastUsed)
        assert.strictEqual(yield* useAt(1_700_000_100_000), 1_700_000_100_000)
        assert.strictEqual(yield* lastUsed, 1_700_000_100_000)
        assert.strictEqual(yield* useAt(1_700_000_100_999), 1_700_000_100_000)
        assert.strictEqual(yield* lastUsed, 1_700_000_100_000)
        assert.strictEqual(yield* useAt(1_700_000_101_000), 1_700_000_101_000)
        assert.strictEqual(yield* lastUsed, 1_700_000_101_000)
      })
    )

    it.effect("refuses a revoked key from the next request on, for good", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const { key, secret } = yield* issue("revoked")
        yield* keys.authenticate(secret)
        const revoked = yield* keys.revoke(key.id).pipe(at(1_700_000_200_000))
        assert.strictEqual(revoked.revokedAtMs, 1_700_000_200_000)
        assert.strictEqual((yield* Effect.flip(keys.authenticate(secret)))._tag, "UnknownKey")
        assert.strictEqual((yield* Effect.flip(keys.enable(key.id)))._tag, "KeyNotFound")
        assert.strictEqual((yield* Effect.flip(keys.disable(key.id)))._tag, "KeyNotFound")
        assert.strictEqual((yield* keys.revoke(key.id)).revokedAtMs, 1_700_000_200_000)
        assert.strictEqual((yield* Effect.flip(keys.authenticate(secret)))._tag, "UnknownKey")
      })
    )

    it.effect("refuses a disabled key by that name until it is enabled again", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const { key, secret } = yield* issue("disabled")
        const disabled = yield* keys.disable(key.id).pipe(at(1_700_000_300_000))
        assert.strictEqual(disabled.disabledAtMs, 1_700_000_300_000)
        assert.deepInclude(yield* Effect.flip(keys.authenticate(secret)), { _tag: "DisabledKey", id: key.id })
        assert.strictEqual((yield* keys.disable(key.id)).disabledAtMs, 1_700_000_300_000)
        assert.isNull((yield* keys.enable(key.id)).disabledAtMs)
        assert.isNull((yield* keys.enable(key.id)).disabledAtMs)
        assert.strictEqual((yield* keys.authenticate(secret)).id, key.id)
      })
    )

    it.effect("hides that a revoked key was disabled before", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const { key, secret } = yield* issue("both")
        yield* keys.disable(key.id)
        assert.isNotNull((yield* keys.revoke(key.id)).disabledAtMs)
        assert.strictEqual((yield* Effect.flip(keys.authenticate(secret)))._tag, "UnknownKey")
      })
    )

    it.effect("does not know keys it has not issued", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        for (const id of ["key_nobody", "", "a\0b", "x".repeat(10_000)]) {
          for (const change of [keys.revoke, keys.disable, keys.enable]) {
            assert.deepInclude(yield* Effect.flip(change(id)), { _tag: "KeyNotFound", id })
          }
        }
      })
    )

    it.effect("lists the keys of one account, newest first, revoked ones included", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const issued = yield* Effect.forEach(["a", "b", "c"], (name) => issue("listed", name))
        yield* issue("listed elsewhere")
        yield* keys.revoke(issued[1]?.key.id ?? "")
        const listed = yield* keys.list("listed")
        assert.deepStrictEqual(
          listed.map(({ name, revokedAtMs }) => [name, revokedAtMs !== null]),
          [
            ["c", false],
            ["b", true],
            ["a", false]
          ]
        )
        assert.deepStrictEqual(yield* keys.list("without-keys"), [])
      })
    )

    it.effect("lets an account have ten active keys, also when more are asked for at once", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const asked = yield* Effect.forEach(Array.from({ length: 30 }), () => Effect.result(issue("full")), {
          concurrency: "unbounded"
        })
        const made = asked.flatMap((one) => (one._tag === "Success" ? [one.success.key] : []))
        const refused = asked.flatMap((one) => (one._tag === "Failure" ? [one.failure] : []))
        assert.strictEqual(made.length, MAX_ACTIVE_KEYS)
        for (const error of refused) {
          assert.deepInclude(error, { _tag: "TooManyKeys", limit: MAX_ACTIVE_KEYS })
        }
        assert.strictEqual((yield* keys.list("full")).length, MAX_ACTIVE_KEYS)
        yield* issue("not full")

        const [first, second] = made.map(({ id }) => id)
        assert.isDefined(first)
        assert.isDefined(second)
        yield* keys.disable(first)
        yield* issue("full")
        assert.strictEqual((yield* Effect.flip(keys.enable(first)))._tag, "TooManyKeys")
        yield* keys.revoke(second)
        assert.isNull((yield* keys.enable(first)).disabledAtMs)
        assert.strictEqual((yield* Effect.flip(issue("full")))._tag, "TooManyKeys")
      })
    )

    it.effect("publishes the keys that were revoked or disabled", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const issued = yield* Effect.forEach(["a", "b", "c"], () => issue("closed"))
        const [a, b, c] = issued.map(({ key }) => key.id)
        assert.isDefined(a)
        assert.isDefined(b)
        assert.isDefined(c)
        const mine = new Set([a, b, c])
        const heard = yield* keys.closures.pipe(
          Stream.filter((id) => mine.has(id)),
          Stream.takeUntil((id) => id === a),
          Stream.runCollect,
          Effect.forkChild({ startImmediately: true })
        )
        yield* keys.revoke(c)
        yield* keys.disable(a)
        // A store may say it twice.
        assert.deepStrictEqual(new Set(yield* Fiber.join(heard)), new Set([c, a]))
      })
    )
  })
