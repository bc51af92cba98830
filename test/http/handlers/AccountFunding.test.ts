import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { FundingService } from "../../../src/simulator/venues/FundingService.ts"
import { balance, balances, solListed } from "../../funding/scriptedFunding.ts"
import { type Answer, call } from "../../support/http.ts"
import { assertRefused, itemsOf, lists, read, scripted, serving, servingAScript } from "./fundingWorld.ts"

const nextOf = (answer: Answer): string => String(answer.json("nextCursor"))

const isOnBase = (item: object) => JSON.stringify(item).includes("base-mainnet")

/** Every page of a list, one after the other. */
const pages = Effect.fnUntraced(function* (what: string, limit: number, key: string) {
  const seen: Array<Answer> = []
  const query: Record<string, string> = { limit: String(limit) }
  do {
    const answer = yield* read(what, query, key)
    seen.push(answer)
    query["cursor"] = nextOf(answer)
  } while (seen.at(-1)?.json("nextCursor") !== null)
  return seen
})

layer(serving())("the account reads", (it) => {
  it.effect("list the wallets of the owner, newest first", () =>
    Effect.gen(function* () {
      const { walletsOf } = yield* FundingService
      yield* TestClock.setTime(1_791_633_600_000)
      const answer = yield* read("wallets")
      assert.deepStrictEqual(JSON.parse(answer.text), {
        data: walletsOf("welcome").toReversed(),
        nextCursor: null,
        meta: {
          requestId: answer.headers.get("x-request-id"),
          executionAuthority: "none",
          asOf: answer.json("meta.asOf"),
          source: "native-indexer"
        }
      })
      assert.match(String(answer.json("meta.requestId")), /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u)
      assert.isTrue(Number.isSafeInteger(answer.json("meta.asOf")))
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      assert.sameMembers(
        itemsOf(answer).map(({ verified }) => verified),
        [true, true, true, false]
      )
    })
  )

  it.effect("list the wallets of one family", () =>
    Effect.gen(function* () {
      const solana = itemsOf(yield* read("wallets", { family: "solana" }))
      assert.deepStrictEqual(
        solana.map(({ label }) => label),
        ["Savings", "Main"]
      )
      const evm = itemsOf(yield* read("wallets", { family: "evm" }))
      assert.deepStrictEqual(
        evm.map(({ family, label }) => [family, label]),
        [
          ["evm", null],
          ["evm", "Trading"]
        ]
      )
    })
  )

  it.effect("list what can be deposited, with digits for amounts and null for unknown values", () =>
    Effect.gen(function* () {
      const answer = yield* read("funding-catalog")
      const items = itemsOf(answer)
      assert.strictEqual(items.length, 5)
      assert.deepStrictEqual(
        items.find(({ network }) => JSON.stringify(network).includes("ethereum-mainnet")),
        {
          network: { id: "ethereum-mainnet", name: "Ethereum", family: "evm", memoRequired: false },
          assets: [
            {
              id: "ethereum-mainnet/native",
              network: "ethereum-mainnet",
              address: "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE",
              symbol: "ETH",
              decimals: 18,
              native: true,
              minimumAtomic: "1000000000000000"
            },
            {
              id: "ethereum-mainnet/0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
              network: "ethereum-mainnet",
              address: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
              symbol: "USDC",
              decimals: 6,
              native: false,
              minimumAtomic: "5000000"
            },
            {
              id: "ethereum-mainnet/0x6772616960000000000000000000000000000018",
              network: "ethereum-mainnet",
              address: "0x6772616960000000000000000000000000000018",
              symbol: "GRAIN",
              decimals: 24,
              native: false,
              minimumAtomic: "0"
            }
          ]
        }
      )
      assert.strictEqual(answer.json("data.0.assets.0.minimumAtomic"), null, "arbitrum-one, whose minimum is unknown")
      assert.deepInclude(answer.json("meta"), { executionAuthority: "none", source: "native-indexer" })
    })
  )

  it.effect("list what one wallet can be funded with", () =>
    Effect.gen(function* () {
      const { walletsOf } = yield* FundingService
      for (const wallet of walletsOf("welcome").filter(({ verified }) => verified)) {
        const families = itemsOf(yield* read("funding-catalog", { walletId: wallet.walletId }, "b")).map(
          ({ network }) => Reflect.get(Object(network), "family")
        )
        assert.isNotEmpty(families)
        assert.isTrue(families.every((family) => family === wallet.family))
      }
    })
  )

  it.effect("list balances exactly, and say why something is unknown", () =>
    Effect.gen(function* () {
      const { walletsOf } = yield* FundingService
      const answer = yield* read("balances")
      const items = itemsOf(answer)
      const owned = new Set<unknown>(walletsOf("welcome").map(({ walletId }) => walletId))
      assert.isTrue(items.every(({ walletId }) => owned.has(walletId)))
      for (const { asset, balance, priceUsd, reason, valueUsd } of items) {
        assert.match(String(balance), /^(?:0|[1-9][0-9]*)$/u)
        const isPriced = Reflect.get(Object(asset), "symbol") !== "GRAIN"
        assert.strictEqual(valueUsd === null, !isPriced)
        assert.strictEqual(priceUsd === null, !isPriced)
        assert.strictEqual(reason, isPriced ? null : "price_unknown")
      }
      assert.deepStrictEqual(answer.json("meta.partial"), [])
    })
  )

  it.effect("list the balances of one wallet", () =>
    Effect.gen(function* () {
      const { walletsOf } = yield* FundingService
      const [wallet] = walletsOf("welcome")
      const items = itemsOf(yield* read("balances", { walletId: wallet?.walletId ?? "" }))
      assert.isTrue(items.length > 0 && items.every(({ walletId }) => walletId === wallet?.walletId))
    })
  )

  it.effect("name a chain that could not be read, and leave out what it holds", () =>
    Effect.gen(function* () {
      const { faults } = yield* FundingService
      const all = itemsOf(yield* read("balances"))
      yield* faults.set({ unread: ["base-mainnet"] })
      const answer = yield* read("balances")
      yield* faults.clear
      assert.isTrue(all.some(isOnBase))
      assert.deepStrictEqual(answer.json("meta.partial"), [{ chain: "base-mainnet", reason: "chain_unreachable" }])
      assert.strictEqual(itemsOf(answer).length, all.filter((item) => !isOnBase(item)).length)
      assert.isFalse(itemsOf(answer).some(isOnBase))
    })
  )

  for (const [what, key] of [
    ["wallets", "c"],
    ["funding-catalog", "d"],
    ["balances", "e"]
  ] as const) {
    it.effect(`show every item of ${what} once, whatever the size of a page`, () =>
      Effect.gen(function* () {
        const whole = itemsOf(yield* read(what, {}, key))
        for (const limit of [1, 2, 3, whole.length, 100]) {
          const walked = yield* pages(what, limit, key)
          assert.deepStrictEqual(
            walked.flatMap(itemsOf).map((item) => ({ ...item, asOf: 0, priceAsOf: 0 })),
            whole.map((item) => ({ ...item, asOf: 0, priceAsOf: 0 }))
          )
          assert.isTrue(walked.every((page) => itemsOf(page).length <= limit))
        }
      })
    )
  }
})

layer(serving())("cursors of the account reads", (it) => {
  it.effect("are invalid with other selectors, for another owner and on another list", () =>
    Effect.gen(function* () {
      const { walletsOf } = yield* FundingService
      const cursor = nextOf(yield* read("wallets", { family: "solana", limit: "1" }))
      const walletId = walletsOf("welcome")[0]?.walletId ?? ""
      assert.strictEqual((yield* read("wallets", { family: "solana", cursor })).status, 200)
      assert.strictEqual((yield* read("wallets", { family: "solana", cursor }, "b")).status, 200, "the same owner")
      const refusals = [
        read("wallets", { cursor }),
        read("wallets", { family: "evm", cursor }),
        read("wallets", { family: "solana", cursor }, "n"),
        read("wallets", { family: "solana", cursor: `${cursor}A` }),
        read("wallets", { family: "solana", cursor: "" }),
        read("wallets", { family: "solana", cursor: "x".repeat(600) }),
        read("funding-catalog", { cursor }),
        read("balances", { cursor }),
        read("balances", { walletId, cursor: nextOf(yield* read("balances", { limit: "1" })) })
      ]
      for (const refusal of refusals) {
        assertRefused(yield* refusal, 400, "invalid_cursor")
      }
    })
  )

  it.effect("are refused before the funding service is asked", () =>
    Effect.gen(function* () {
      const { faults } = yield* FundingService
      yield* faults.set({ http: "500" })
      for (const what of lists) {
        assertRefused(yield* read(what, { cursor: "AAAA" }, "b"), 400, "invalid_cursor")
      }
      yield* faults.clear
    })
  )
})

layer(serving())("the account reads", (it) => {
  it.effect("cost one unit of the REST budget each, found or not", () =>
    Effect.gen(function* () {
      const { walletsOf } = yield* FundingService
      const [wallet] = walletsOf("welcome")
      const paths = [
        "wallets",
        "funding-catalog",
        "balances",
        "balances?walletId=w_none",
        "wallets?limit=0",
        "wallets?cursor=x",
        `deposit-address?wallet=${wallet?.walletId}&network=solana-mainnet&asset=solana-mainnet%2Fnative`
      ]
      for (const [at, path] of paths.entries()) {
        const { headers } = yield* call(`/api/v1/account/${path}`)
        assert.strictEqual(headers.get("x-ratelimit-budget"), "rest")
        assert.strictEqual(headers.get("x-ratelimit-cost"), "1")
        assert.strictEqual(headers.get("x-ratelimit-remaining"), String(119 - at))
      }
      const rest = Array.from({ length: 120 - paths.length }, () => read("wallets"))
      yield* Effect.all(rest, { concurrency: 8, discard: true })
      const spent = yield* read("wallets")
      assertRefused(spent, 429, "rate_limited")
      assert.isTrue(Number(spent.headers.get("retry-after")) >= 1)
    })
  )
})

layer(servingAScript)("balances that the service does not know", (it) => {
  it.effect("are null, with their reasons and the times at which they were last known", () =>
    Effect.gen(function* () {
      const unknown = { ...balance, balance: null, valueUsd: null, asOf: 1_700_000_000_000, reason: "rpc_timeout" }
      const never = { ...unknown, priceUsd: null, priceAsOf: null, asOf: null, reason: "never_read" }
      const other = { ...never, asset: { ...solListed, id: "solana-mainnet/other" } }
      scripted.say({ balances: { ...balances, balances: [unknown, other] } })
      const answer = yield* read("balances")
      assert.deepStrictEqual(itemsOf(answer), [other, unknown])
      assert.strictEqual(answer.json("meta.asOf"), balances.asOf)
    })
  )
})
