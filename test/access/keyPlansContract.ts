import { assert, layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { KeyStore } from "../../src/access/KeyStore.ts"
import { COMMAND_LINE, type KeyActor } from "../../src/api/schemas/KeyAudit.ts"
import { DEFAULT_PLAN } from "../../src/api/schemas/Plan.ts"
import { at } from "../support/clock.ts"

const issue = Effect.fnUntraced(function* (accountId: string) {
  const keys = yield* KeyStore
  return yield* keys.issue({ accountId, name: "bot", scopes: ["md.read"], ipPolicy: null }, COMMAND_LINE)
})

const T = 1_800_000_000_000

/** Contract of the audit and the plans of every key store. Each test has an account of its own. */
export const keyPlansContract = <E>(name: string, store: Layer.Layer<KeyStore, E>) =>
  layer(store, { timeout: "1 minute", excludeTestServices: true })(name, (it) => {
    it.effect("audits each change of a key once, newest first and page by page", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const by: KeyActor = { kind: "session", accountId: "audited", address: "203.0.113.9" }
        const { key } = yield* issue("audited").pipe(at(T))
        yield* keys.change(key.id, { name: "new", ipPolicy: null }, by).pipe(at(T + 1))
        yield* keys.disable(key.id, by).pipe(at(T + 2))
        yield* keys.disable(key.id, by).pipe(at(T + 3))
        yield* keys.enable(key.id, by).pipe(at(T + 4))
        const { key: next } = yield* keys.rotate(key.id, 0, by).pipe(at(T + 5))
        yield* keys.revoke(key.id, COMMAND_LINE).pipe(at(T + 6))
        yield* Effect.flip(keys.rotate(key.id, 0, by))
        const first = yield* keys.audit("audited", { limit: 4, before: null })
        const rest = yield* keys.audit("audited", { limit: 4, before: first.next })
        assert.isNull(rest.next)
        assert.deepStrictEqual(
          [...first.rows, ...rest.rows].map(({ action, actor, address, atMs, detail, keyId }) => [
            atMs - T,
            actor,
            action,
            keyId === key.id,
            address,
            detail
          ]),
          [
            [6, "command", "revoke", true, null, null],
            [5, "session", "create", false, "203.0.113.9", `in place of ${key.id}`],
            [5, "session", "rotate", true, "203.0.113.9", next.id],
            [4, "session", "enable", true, "203.0.113.9", null],
            [2, "session", "disable", true, "203.0.113.9", null],
            [1, "session", "change", true, "203.0.113.9", "ipPolicy, name"],
            [0, "command", "create", true, null, null]
          ]
        )
      })
    )

    it.effect("gives a key the current limits of its plan", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const plan = { ...DEFAULT_PLAN, name: "team", rest: 9, windowSeconds: 30 }
        const request = {
          accountId: "planned",
          name: "bot",
          scopes: ["md.read"] as const,
          ipPolicy: null,
          plan: "team"
        }
        assert.strictEqual((yield* Effect.flip(keys.issue(request, COMMAND_LINE)))._tag, "PlanNotFound")
        yield* keys.setPlan(plan, COMMAND_LINE)
        const { key, secret } = yield* keys.issue(request, COMMAND_LINE)
        assert.deepStrictEqual((yield* keys.authenticate(secret)).plan, plan)
        yield* keys.setPlan({ ...plan, rest: 10 }, COMMAND_LINE)
        assert.strictEqual((yield* keys.authenticate(secret)).plan.rest, 10)
        assert.deepStrictEqual(yield* keys.plans, [DEFAULT_PLAN, { ...plan, rest: 10 }])
        assert.strictEqual((yield* Effect.flip(keys.removePlan("team", COMMAND_LINE)))._tag, "PlanInUse")
        const unknown = yield* Effect.flip(keys.change(key.id, { plan: "none" }, COMMAND_LINE))
        assert.strictEqual(unknown._tag, "PlanNotFound")
        assert.deepStrictEqual((yield* keys.change(key.id, { plan: "default" }, COMMAND_LINE)).plan, DEFAULT_PLAN)
        yield* keys.removePlan("team", COMMAND_LINE)
        assert.strictEqual((yield* Effect.flip(keys.removePlan("team", COMMAND_LINE)))._tag, "PlanNotFound")
      })
    )

    it.effect("audits plans that are made, changed or removed, with the limits that differ", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const plan = { ...DEFAULT_PLAN, name: "audited", rest: 9 }
        const by: KeyActor = { kind: "session", accountId: "owner", address: "203.0.113.9" }
        yield* keys.setPlan(plan, COMMAND_LINE).pipe(at(T))
        yield* keys.setPlan(plan, COMMAND_LINE).pipe(at(T + 1))
        yield* keys.setPlan({ ...plan, rest: 10, sockets: 7 }, by).pipe(at(T + 2))
        yield* keys.removePlan("audited", COMMAND_LINE).pipe(at(T + 3))
        yield* Effect.flip(keys.removePlan("audited", COMMAND_LINE))
        const entries = (yield* keys.planAudit(100)).filter((entry) => entry.plan === "audited")
        assert.deepStrictEqual(
          entries.map(({ action, actor, atMs, detail }) => [atMs - T, actor, action, detail]),
          [
            [
              3,
              "command",
              "remove",
              "rest 10, quote 300, windowSeconds 60, streams 5, sockets 7, trackedWallets 500, alerts 100, exports 0"
            ],
            [2, "session", "change", "rest 9 to 10, sockets 5 to 7"],
            [
              0,
              "command",
              "create",
              "rest 9, quote 300, windowSeconds 60, streams 5, sockets 5, trackedWallets 500, alerts 100, exports 0"
            ]
          ]
        )
        assert.lengthOf(yield* keys.planAudit(1), 1)
      })
    )

    it.effect("keeps the plan of the specification as it is", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        assert.strictEqual(
          (yield* Effect.flip(keys.setPlan({ ...DEFAULT_PLAN, rest: 1 }, COMMAND_LINE)))._tag,
          "PlanInUse"
        )
        assert.strictEqual((yield* Effect.flip(keys.removePlan("default", COMMAND_LINE)))._tag, "PlanInUse")
        assert.deepStrictEqual((yield* keys.plans)[0], DEFAULT_PLAN)
      })
    )
  })
