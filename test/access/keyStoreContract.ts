import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, type Layer, Redacted, Stream } from "effect"
import { COMMAND_LINE, type KeyActor } from "../../src/api/schemas/KeyAudit.ts"
import { KeyStore } from "../../src/access/KeyStore.ts"
import { makeSecret } from "../../src/access/keyFormat.ts"
import { type ApiKey, MAX_ACTIVE_KEYS } from "../../src/api/schemas/ApiKey.ts"
import { at } from "../support/clock.ts"

const issue = Effect.fnUntraced(function* (accountId: string, name = "bot") {
  const keys = yield* KeyStore
  return yield* keys.issue({ accountId, name, scopes: ["md.read"], ipPolicy: null }, COMMAND_LINE)
})

const T = 1_800_000_000_000

/** Contract of every key store. Each test has an account of its own. */
export const keyStoreContract = <E>(name: string, store: Layer.Layer<KeyStore, E>) =>
  layer(store, { timeout: "1 minute", excludeTestServices: true })(name, (it) => {
    it.effect("issues a key that its secret opens", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const request = { accountId: "issue", name: "Bot — 1", scopes: ["md.read", "alerts.write"] as const }
        const { key, secret } = yield* keys
          .issue({ ...request, ipPolicy: ["10.0.0.0/8"] }, COMMAND_LINE)
          .pipe(at(1_700_000_000_123))
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
        const revoked = yield* keys.revoke(key.id, COMMAND_LINE).pipe(at(1_700_000_200_000))
        assert.strictEqual(revoked.revokedAtMs, 1_700_000_200_000)
        assert.strictEqual((yield* Effect.flip(keys.authenticate(secret)))._tag, "UnknownKey")
        assert.strictEqual((yield* Effect.flip(keys.enable(key.id, COMMAND_LINE)))._tag, "KeyNotFound")
        assert.strictEqual((yield* Effect.flip(keys.disable(key.id, COMMAND_LINE)))._tag, "KeyNotFound")
        assert.strictEqual((yield* keys.revoke(key.id, COMMAND_LINE)).revokedAtMs, 1_700_000_200_000)
        assert.strictEqual((yield* Effect.flip(keys.authenticate(secret)))._tag, "UnknownKey")
      })
    )

    it.effect("refuses a disabled key by that name until it is enabled again", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const { key, secret } = yield* issue("disabled")
        const disabled = yield* keys.disable(key.id, COMMAND_LINE).pipe(at(1_700_000_300_000))
        assert.strictEqual(disabled.disabledAtMs, 1_700_000_300_000)
        assert.deepInclude(yield* Effect.flip(keys.authenticate(secret)), { _tag: "DisabledKey", id: key.id })
        assert.strictEqual((yield* keys.disable(key.id, COMMAND_LINE)).disabledAtMs, 1_700_000_300_000)
        assert.isNull((yield* keys.enable(key.id, COMMAND_LINE)).disabledAtMs)
        assert.isNull((yield* keys.enable(key.id, COMMAND_LINE)).disabledAtMs)
        assert.strictEqual((yield* keys.authenticate(secret)).id, key.id)
      })
    )

    it.effect("hides that a revoked key was disabled before", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const { key, secret } = yield* issue("both")
        yield* keys.disable(key.id, COMMAND_LINE)
        assert.isNotNull((yield* keys.revoke(key.id, COMMAND_LINE)).disabledAtMs)
        assert.strictEqual((yield* Effect.flip(keys.authenticate(secret)))._tag, "UnknownKey")
      })
    )

    it.effect("does not know keys it has not issued", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        for (const id of ["key_nobody", "", "a\0b", "x".repeat(10_000)]) {
          for (const change of [keys.revoke, keys.disable, keys.enable]) {
            assert.deepInclude(yield* Effect.flip(change(id, COMMAND_LINE)), { _tag: "KeyNotFound", id })
          }
        }
      })
    )

    it.effect("lists the keys of one account, newest first, revoked ones included", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const issued = yield* Effect.forEach(["a", "b", "c"], (name) => issue("listed", name))
        yield* issue("listed elsewhere")
        yield* keys.revoke(issued[1]?.key.id ?? "", COMMAND_LINE)
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

    it.effect("lets an account have ten active keys, even when more are requested at once", () =>
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
        yield* keys.disable(first, COMMAND_LINE)
        yield* issue("full")
        assert.strictEqual((yield* Effect.flip(keys.enable(first, COMMAND_LINE)))._tag, "TooManyKeys")
        yield* keys.revoke(second, COMMAND_LINE)
        assert.isNull((yield* keys.enable(first, COMMAND_LINE)).disabledAtMs)
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
        yield* keys.revoke(c, COMMAND_LINE)
        yield* keys.disable(a, COMMAND_LINE)
        // A store may publish it twice.
        assert.deepStrictEqual(new Set(yield* Fiber.join(heard)), new Set([c, a]))
      })
    )

    it.effect("refuses an expired key like an unknown one, by the clock alone, and frees its place", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const request = { accountId: "expiring", name: "bot", scopes: ["md.read"] as const, ipPolicy: null }
        const { key, secret } = yield* keys.issue({ ...request, expiresAtMs: T + 1000 }, COMMAND_LINE).pipe(at(T))
        assert.strictEqual(key.expiresAtMs, T + 1000)
        assert.strictEqual((yield* keys.authenticate(secret).pipe(at(T + 999))).id, key.id)
        assert.strictEqual((yield* Effect.flip(keys.authenticate(secret).pipe(at(T + 1000))))._tag, "UnknownKey")
        yield* Effect.replicateEffect(keys.issue(request, COMMAND_LINE), 10).pipe(at(T + 1000))
        const later = keys.change(key.id, { expiresAtMs: T + 9000 }, COMMAND_LINE).pipe(at(T + 2000))
        assert.strictEqual((yield* Effect.flip(later))._tag, "TooManyKeys")
      })
    )

    it.effect("changes the given fields of a key at the next request", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const { key, secret } = yield* issue("edited")
        yield* keys.authenticate(secret)
        const scopes = ["md.read", "perps.read"] as const
        const changed = yield* keys.change(key.id, { name: "new", scopes, ipPolicy: ["::1/128"] }, COMMAND_LINE)
        assert.deepInclude(changed, { name: "new", scopes, ipPolicy: ["::1/128"], expiresAtMs: null })
        assert.deepInclude(yield* keys.authenticate(secret), { name: "new", scopes })
        assert.deepInclude(yield* keys.change(key.id, { ipPolicy: null }, COMMAND_LINE), {
          name: "new",
          ipPolicy: null
        })
        yield* keys.revoke(key.id, COMMAND_LINE)
        const tooLate = yield* Effect.flip(keys.change(key.id, { name: "late" }, COMMAND_LINE))
        assert.strictEqual(tooLate._tag, "KeyNotFound")
      })
    )

    it.effect("rotates a key: both secrets open until the overlap ends, then the new one alone", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const old = yield* issue("rotated").pipe(at(T))
        const { key, secret } = yield* keys.rotate(old.key.id, 60_000, COMMAND_LINE).pipe(at(T))
        assert.deepInclude(key, { name: old.key.name, scopes: old.key.scopes, expiresAtMs: null, createdAtMs: T })
        assert.notStrictEqual(key.id, old.key.id)
        assert.deepInclude(yield* keys.authenticate(old.secret).pipe(at(T + 59_999)), { replacedBy: key.id })
        assert.strictEqual((yield* keys.authenticate(secret).pipe(at(T + 59_999))).id, key.id)
        assert.strictEqual((yield* Effect.flip(keys.authenticate(old.secret).pipe(at(T + 60_000))))._tag, "UnknownKey")
        assert.strictEqual((yield* keys.authenticate(secret).pipe(at(T + 60_000))).id, key.id)
        const again = yield* Effect.flip(keys.rotate(old.key.id, 0, COMMAND_LINE).pipe(at(T)))
        assert.strictEqual(again._tag, "KeyNotFound", "a key is rotated once")
      })
    )

    it.effect("rotates once at the limit of an account, with one active key more while the overlap lasts", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const issued = yield* Effect.replicateEffect(issue("crowded"), MAX_ACTIVE_KEYS).pipe(at(T))
        const [one = "", two = ""] = issued.map(({ key }) => key.id)
        yield* keys.rotate(one, 60_000, COMMAND_LINE).pipe(at(T))
        const refused = yield* Effect.flip(keys.rotate(two, 60_000, COMMAND_LINE).pipe(at(T)))
        assert.strictEqual(refused._tag, "TooManyKeys")
        assert.isNull((yield* keys.list("crowded")).find(({ id }) => id === two)?.replacedBy, "nothing has changed")
        yield* keys.rotate(two, 0, COMMAND_LINE).pipe(at(T))
        yield* keys.rotate(issued[2]?.key.id ?? "", 60_000, COMMAND_LINE).pipe(at(T + 60_000))
      })
    )

    it.effect("shows an account no keys of other accounts", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const { key, secret } = yield* issue("victim")
        const by: KeyActor = { kind: "session", accountId: "intruder", address: "::1" }
        const changes: ReadonlyArray<Effect.Effect<ApiKey, Effect.Error<ReturnType<KeyStore["Service"]["change"]>>>> = [
          keys.revoke(key.id, by),
          keys.disable(key.id, by),
          keys.enable(key.id, by),
          keys.change(key.id, { name: "x" }, by),
          Effect.map(keys.rotate(key.id, 0, by), (issued) => issued.key)
        ]
        for (const change of changes) {
          assert.deepInclude(yield* Effect.flip(change), { _tag: "KeyNotFound", id: key.id })
        }
        assert.strictEqual((yield* keys.authenticate(secret)).name, "bot")
        assert.deepStrictEqual((yield* keys.audit("intruder", { limit: 10, before: null })).rows, [])
      })
    )
  })
