import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, type Layer, Redacted, Stream } from "effect"
import { AccountStore } from "../../../src/access/accounts/AccountStore.ts"
import { isSession, sessionReference, SessionStore } from "../../../src/access/accounts/SessionStore.ts"
import type { Account } from "../../../src/api/schemas/Account.ts"
import { ApiScope } from "../../../src/api/schemas/ApiKey.ts"
import { at } from "../../support/clock.ts"

const START = 1_700_000_000_000
const MINUTE = 60_000

const accountOf = Effect.fnUntraced(function* (id: string) {
  const accounts = yield* AccountStore
  return yield* accounts.create({ id, name: `name of ${id}`, role: "member" })
})

/** Contract of every pair of account and session stores. Each test has an account of its own. */
export const accountStoreContract = <E>(name: string, stores: Layer.Layer<AccountStore | SessionStore, E>) =>
  layer(stores, { timeout: "1 minute", excludeTestServices: true })(name, (it) => {
    it.effect("makes an account once", () =>
      Effect.gen(function* () {
        const accounts = yield* AccountStore
        const made = yield* accountOf("once").pipe(at(START))
        const expected: Account = {
          id: "once",
          name: "name of once",
          role: "member",
          createdAtMs: START,
          disabledAtMs: null
        }
        assert.deepStrictEqual(made, expected)
        assert.strictEqual((yield* Effect.flip(accountOf("once")))._tag, "AccountExists")
        assert.deepStrictEqual(yield* accounts.find("once"), expected)
        assert.isNull(yield* accounts.find("nothing"))
        assert.include(
          (yield* accounts.list).map(({ id }) => id),
          "once"
        )
      })
    )

    it.effect("accepts a link once, within its quarter of an hour, and for a known account only", () =>
      Effect.gen(function* () {
        const accounts = yield* AccountStore
        yield* accountOf("link")
        const token = yield* accounts.link("link").pipe(at(START))
        const late = yield* accounts.link("link").pipe(at(START))
        assert.strictEqual((yield* accounts.redeem(token).pipe(at(START + 14 * MINUTE))).id, "link")
        for (const [used, nowMs] of [
          [token, START + 14 * MINUTE],
          [late, START + 15 * MINUTE],
          [Redacted.make("x".repeat(43)), START],
          [Redacted.make("\0"), START]
        ] as const) {
          assert.strictEqual((yield* Effect.flip(accounts.redeem(used).pipe(at(nowMs))))._tag, "LinkNotValid")
        }
        assert.strictEqual((yield* Effect.flip(accounts.link("nothing")))._tag, "AccountNotFound")
      })
    )

    it.effect("accepts a link once when it is used many times at once", () =>
      Effect.gen(function* () {
        const accounts = yield* AccountStore
        yield* accountOf("race")
        const token = yield* accounts.link("race")
        const used = yield* Effect.all(
          Array.from({ length: 8 }, () => Effect.isSuccess(accounts.redeem(token))),
          { concurrency: "unbounded" }
        )
        assert.lengthOf(
          used.filter((one) => one),
          1
        )
      })
    )

    it.effect("opens sessions with every scope and one shared budget, and ends them one by one or all", () =>
      Effect.gen(function* () {
        const sessions = yield* SessionStore
        yield* accountOf("session")
        const [one, two, three] = yield* Effect.all([
          sessions.open("session"),
          sessions.open("session"),
          sessions.open("session")
        ])
        const first = yield* sessions.authenticate(one)
        assert.strictEqual(first.accountId, "session")
        assert.isTrue(isSession(first))
        assert.sameMembers([...first.scopes], [...ApiScope.literals])
        assert.strictEqual((yield* sessions.authenticate(two)).id, first.id)
        yield* sessions.end(one)
        yield* sessions.end(one)
        assert.strictEqual((yield* Effect.flip(sessions.authenticate(one)))._tag, "SessionEnded")
        assert.strictEqual((yield* sessions.authenticate(three)).id, first.id)
        yield* sessions.endAll("session")
        for (const secret of [two, three, Redacted.make("not a secret"), Redacted.make("y".repeat(43))]) {
          assert.strictEqual((yield* Effect.flip(sessions.authenticate(secret)))._tag, "SessionEnded")
        }
      })
    )

    it.effect("ends the sessions of a disabled account and accepts none until it is enabled", () =>
      Effect.gen(function* () {
        const [accounts, sessions] = [yield* AccountStore, yield* SessionStore]
        yield* accountOf("disabled")
        const [secret, token] = [yield* sessions.open("disabled"), yield* accounts.link("disabled")]
        assert.strictEqual((yield* accounts.setDisabled("disabled", true).pipe(at(START))).disabledAtMs, START)
        assert.strictEqual((yield* Effect.flip(sessions.authenticate(secret)))._tag, "SessionEnded")
        assert.strictEqual((yield* Effect.flip(accounts.redeem(token)))._tag, "LinkNotValid")
        assert.isNull((yield* accounts.setDisabled("disabled", false)).disabledAtMs)
        assert.strictEqual((yield* Effect.flip(sessions.authenticate(secret)))._tag, "SessionEnded")
        assert.strictEqual((yield* accounts.redeem(token)).id, "disabled")
        assert.strictEqual((yield* Effect.flip(accounts.setDisabled("nothing", true)))._tag, "AccountNotFound")
      })
    )

    it.effect("announces the end of a session, of all sessions and of an account", () =>
      Effect.gen(function* () {
        const [accounts, sessions] = [yield* AccountStore, yield* SessionStore]
        yield* accountOf("announced")
        /** Sessions that end together. A store may also announce each of them. */
        const together = new Set<string | null>()
        const heard = yield* sessions.closures.pipe(
          Stream.filter(({ accountId, session }) => accountId === "announced" && !together.has(session)),
          // A store may announce an end to its own process twice.
          Stream.changesWith((one, other) => one.session === other.session),
          Stream.take(3),
          Stream.runCollect,
          Effect.forkChild({ startImmediately: true })
        )
        yield* Effect.yieldNow
        const [one, two] = [yield* sessions.open("announced"), yield* sessions.open("announced")]
        together.add(sessionReference(one)).add(sessionReference(two))
        assert.isTrue(yield* sessions.isOpen(sessionReference(one)))
        yield* accounts.setDisabled("announced", true)
        assert.isFalse(yield* sessions.isOpen(sessionReference(two)))
        yield* accounts.setDisabled("announced", false)
        const three = yield* sessions.open("announced")
        yield* sessions.end(one)
        yield* sessions.end(three)
        yield* sessions.endAll("announced")
        assert.deepStrictEqual(
          (yield* Fiber.join(heard)).map(({ session }) => session),
          [null, sessionReference(three), null]
        )
      })
    )

    it.effect("finishes a sign-in at a provider once, within ten minutes", () =>
      Effect.gen(function* () {
        const accounts = yield* AccountStore
        const [one, late] = yield* Effect.all([accounts.beginSignIn, accounts.beginSignIn]).pipe(at(START))
        yield* accounts.finishSignIn(one).pipe(at(START + 9 * MINUTE))
        for (const [secret, nowMs] of [
          [one, START + 9 * MINUTE],
          [late, START + 10 * MINUTE],
          [Redacted.make("z".repeat(43)), START],
          [Redacted.make("\0"), START]
        ] as const) {
          const error = yield* Effect.flip(accounts.finishSignIn(secret).pipe(at(nowMs)))
          assert.strictEqual(error._tag, "LinkNotValid")
        }
      })
    )

    it.effect("opens no session of an account that has just been disabled", () =>
      Effect.gen(function* () {
        const [accounts, sessions] = [yield* AccountStore, yield* SessionStore]
        yield* accountOf("meanwhile")
        yield* accounts.setDisabled("meanwhile", true)
        const secret = yield* sessions.open("meanwhile")
        yield* accounts.setDisabled("meanwhile", false)
        assert.strictEqual((yield* Effect.flip(sessions.authenticate(secret)))._tag, "SessionEnded")
      })
    )

    it.effect("finds one account for one user of a provider, also when the user signs in twice at once", () =>
      Effect.gen(function* () {
        const accounts = yield* AccountStore
        const user = { issuer: "https://id.example", subject: "42" }
        const both = yield* Effect.all(
          [accounts.ofIdentity(user, "Ada"), accounts.ofIdentity(user, "Ada"), accounts.ofIdentity(user, "Renamed")],
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(both.map(({ id }) => id)).size, 1)
        assert.strictEqual(both[0].role, "member")
        const other = yield* accounts.ofIdentity({ ...user, issuer: "https://other.example" }, "Ada")
        assert.notStrictEqual(other.id, both[0].id)
        yield* accounts.setDisabled(other.id, true)
        const refused = yield* Effect.flip(accounts.ofIdentity({ ...user, issuer: "https://other.example" }, "Ada"))
        assert.strictEqual(refused._tag, "LinkNotValid")
      })
    )
  })
