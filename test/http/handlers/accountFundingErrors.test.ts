import { assert, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { FundingService } from "../../../src/simulator/venues/FundingService.ts"
import { call, keyOf, running } from "../../support/http.ts"
import { assertInvalid, assertRefused, bodyOf, itemsOf, lists, read, serving } from "./fundingWorld.ts"

layer(serving())("the account reads refuse", (it) => {
  const odd: ReadonlyArray<readonly [string, string, string, string]> = [
    ["wallets", "limit=0", "limit", "out_of_range"],
    ["wallets", "limit=101", "limit", "out_of_range"],
    ["wallets", "limit=", "limit", "format"],
    ["wallets", "limit=1&limit=2", "limit", "repeated"],
    ["wallets", "family=bitcoin", "family", "format"],
    ["wallets", "family=solana&family=evm", "family", "repeated"],
    ["wallets", "walletId=w_1", "walletId", "unknown"],
    ["wallets", "userId=neighbour", "userId", "unknown"],
    ["wallets", "owner=neighbour", "owner", "unknown"],
    ["wallets", "accountId=neighbour", "accountId", "unknown"],
    ["funding-catalog", "limit=201", "limit", "out_of_range"],
    ["funding-catalog", "walletId=", "walletId", "out_of_range"],
    ["funding-catalog", `walletId=${"w".repeat(129)}`, "walletId", "too_long"],
    ["funding-catalog", "family=evm", "family", "unknown"],
    ["balances", "limit=201", "limit", "out_of_range"],
    ["balances", "userId=neighbour", "userId", "unknown"],
    ["balances", `walletId=${"w".repeat(129)}`, "walletId", "too_long"],
    ["balances", "cursor=a&cursor=b", "cursor", "repeated"]
  ]

  for (const [what, query, field, issue] of odd) {
    it.effect(`${what}?${query.slice(0, 40)}`, () =>
      Effect.gen(function* () {
        assertInvalid(yield* call(`/api/v1/account/${what}?${query}`), field, issue)
      })
    )
  }

  it.effect("wallets of other accounts exactly like unknown wallets", () =>
    Effect.gen(function* () {
      const { walletsOf } = yield* FundingService
      const theirs = walletsOf("neighbour")[0]?.walletId ?? ""
      for (const what of ["funding-catalog", "balances"]) {
        const [foreign, unknown] = [yield* read(what, { walletId: theirs }), yield* read(what, { walletId: "w_none" })]
        assertRefused(foreign, 404, "wallet_not_found")
        assert.deepStrictEqual(bodyOf(foreign), bodyOf(unknown))
        assert.strictEqual((yield* read(what, { walletId: theirs }, "n")).status, 200)
      }
    })
  )

  it.effect("to say what an unverified wallet can be funded with", () =>
    Effect.gen(function* () {
      const { walletsOf } = yield* FundingService
      const walletId = walletsOf("welcome").find(({ verified }) => !verified)?.walletId ?? ""
      assertRefused(yield* read("funding-catalog", { walletId }), 404, "funding_target_not_found")
    })
  )

  it.effect("nothing to an owner without wallets, who has none", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(itemsOf(yield* read("wallets", {}, "o")), [])
      assert.deepStrictEqual(itemsOf(yield* read("balances", {}, "o")), [])
      assert.strictEqual(itemsOf(yield* read("funding-catalog", {}, "o")).length, 5)
    })
  )

  for (const what of [...lists, "deposit-address"]) {
    it.effect(`/account/${what} to keys without the scope, and to cookies`, () =>
      Effect.gen(function* () {
        const path = `/api/v1/account/${what}`
        const denied = yield* call(path, { key: "m" })
        assertRefused(denied, 403, "missing_scope")
        assert.deepStrictEqual(denied.json("error.details"), [
          { in: "header", field: "account.read", issue: "missing" }
        ])
        assertRefused(yield* call(path, { key: null }), 401, "missing_api_key")
        const cookie = { cookie: "session=welcome; account=welcome", "x-user-id": "welcome", "x-account-id": "welcome" }
        assertRefused(yield* call(path, { key: null, headers: cookie }), 401, "missing_api_key")
        assertRefused(yield* call(path, { key: "zzz" }), 401, "invalid_api_key")
        assert.strictEqual((yield* call(path, { method: "POST", key: "m" })).status, 405)
      })
    )
  }

  it.effect("headers that name another owner: they change nothing", () =>
    Effect.gen(function* () {
      const headers = { cookie: "account=neighbour", "x-user-id": "neighbour", "x-owner-id": "neighbour" }
      const answer = yield* call("/api/v1/account/wallets", { headers })
      assert.deepStrictEqual(itemsOf(answer), itemsOf(yield* read("wallets")))
    })
  )
})

const faults = [
  ["fails", { http: "500" }, "1"],
  ["limits us", { http: "429" }, "3"],
  ["breaks its protocol", { answers: "malformed" }, "1"],
  ["answers for another owner", { answers: "foreign" }, "1"]
] as const

layer(serving())("when the funding service", (it) => {
  for (const [what, fault, seconds] of faults) {
    it.effect(`${what}, the account reads answer 503, free of charge and without a word of it`, () =>
      Effect.gen(function* () {
        const desk = yield* FundingService
        yield* desk.faults.set(fault)
        const theirs = desk.walletsOf("neighbour").flatMap(({ address, walletId }) => [address, walletId])
        // The catalog has no owner, so it cannot belong to another account.
        for (const list of what === "answers for another owner" ? ["wallets", "balances"] : lists) {
          const answer = yield* read(list, {}, "f")
          assertRefused(answer, 503, "data_unavailable")
          assert.strictEqual(answer.headers.get("retry-after"), seconds)
          assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "0")
          assert.strictEqual(answer.headers.get("x-ratelimit-remaining"), "120")
          for (const secret of [...theirs, "neighbour", "welcome", desk.url]) {
            assert.notInclude(answer.text, secret)
          }
        }
        yield* desk.faults.clear
        yield* TestClock.adjust("5 minutes")
        assert.strictEqual((yield* read("wallets", {}, "f")).status, 200)
        yield* TestClock.adjust("1 minute")
      })
    )
  }
})

layer(serving(Duration.millis(50)), { excludeTestServices: true })("when the funding service is silent", (it) => {
  it.effect("the account reads answer 503", () =>
    Effect.gen(function* () {
      const desk = yield* FundingService
      yield* desk.faults.set({ http: "frozen" })
      for (const what of lists) {
        assertRefused(yield* read(what), 503, "data_unavailable")
      }
    })
  )
})

layer(running({ keys: [keyOf("a", { scopes: ["account.read"] })] }))("without a funding service", (it) => {
  it.effect("the account reads answer 503 and say so", () =>
    Effect.gen(function* () {
      for (const what of [...lists, "deposit-address?wallet=w&network=n&asset=a"]) {
        const answer = yield* call(`/api/v1/account/${what}`)
        assertRefused(answer, 503, "data_unavailable")
        assert.strictEqual(
          answer.json("error.message"),
          "No funding service is configured for this deployment (FUNDING_URL)."
        )
        assert.strictEqual(answer.headers.get("retry-after"), "60")
      }
    })
  )
})
