import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { FundingService } from "../../../src/simulator/venues/FundingService.ts"
import { catalog, type SimAsset, type SimNetwork } from "../../../src/simulator/venues/fundingWorld.ts"
import { OWNER, response, type Script, solDeposit } from "../../funding/scriptedFunding.ts"
import { call } from "../../support/http.ts"
import { assertInvalid, assertRefused, bodyOf, read, scripted, serving, servingAScript } from "./fundingWorld.ts"

const SOL_NATIVE = { network: "solana-mainnet", asset: "solana-mainnet/native" }
const deposit = (wallet: string, query: Record<string, string> = SOL_NATIVE, key = "a") =>
  read("deposit-address", { wallet, ...query }, key)

const wanted = (network: SimNetwork, asset: SimAsset) => ({ network: network.id, asset: asset.id })

const ownWallet = (family: "solana" | "evm") =>
  Effect.map(FundingService, ({ walletsOf }) => {
    const wallet = walletsOf("welcome").find((owned) => owned.family === family && owned.verified)
    assert.isDefined(wallet)
    return wallet
  })

layer(serving())("GET /account/deposit-address", (it) => {
  it.effect("answers where to send one asset on one network, and nothing else", () =>
    Effect.gen(function* () {
      const { address, family, walletId } = yield* ownWallet("solana")
      const answer = yield* deposit(walletId)
      assert.strictEqual(answer.status, 200, answer.text)
      const asOf = answer.json("data.asOf")
      const sent = String(answer.json("data.address"))
      assert.match(sent, /^[1-9A-HJ-NP-Za-km-z]{32,44}$/u)
      assert.deepStrictEqual(JSON.parse(answer.text), {
        data: {
          ownedWallet: { walletId, family, address },
          network: { id: "solana-mainnet", name: "Solana", family: "solana", memoRequired: false },
          asset: {
            id: "solana-mainnet/native",
            network: "solana-mainnet",
            address: "So11111111111111111111111111111111111111112",
            symbol: "SOL",
            decimals: 9,
            native: true
          },
          address: sent,
          qrPayload: `solana:${sent}`,
          memoRequired: false,
          memo: null,
          minimumAtomic: "1000000",
          mismatchWarning: "Send only SOL on Solana to this address.",
          asOf
        },
        nextCursor: null,
        meta: {
          requestId: answer.headers.get("x-request-id"),
          executionAuthority: "none",
          asOf,
          source: "native-indexer"
        }
      })
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      assert.strictEqual(answer.headers.get("x-ratelimit-budget"), "rest")
      assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "1")
    })
  )

  for (const { assets, network } of catalog) {
    for (const asset of assets) {
      it.effect(`answers for ${asset.symbol} on ${network.name}`, () =>
        Effect.gen(function* () {
          const { walletId } = yield* ownWallet(network.family)
          const answer = yield* deposit(walletId, wanted(network, asset))
          assert.strictEqual(answer.status, 200, answer.text)
          assert.deepStrictEqual(answer.json("data.network"), network)
          assert.strictEqual(answer.json("data.asset.decimals"), asset.decimals)
          assert.strictEqual(answer.json("data.minimumAtomic"), asset.minimumAtomic)
          assert.strictEqual(answer.json("data.memoRequired"), network.memoRequired)
          assert.strictEqual(typeof answer.json("data.memo") === "string", network.memoRequired)
        })
      )
    }
  }

  it.effect("distinguishes owners of a shared address by their memos", () =>
    Effect.gen(function* () {
      const { walletsOf } = yield* FundingService
      const query = { network: "solana-custody", asset: "solana-custody/native" }
      const mine = yield* deposit((yield* ownWallet("solana")).walletId, query)
      const theirs = yield* deposit(walletsOf("neighbour")[0]?.walletId ?? "", query, "n")
      assert.strictEqual(mine.json("data.address"), theirs.json("data.address"))
      assert.notStrictEqual(mine.json("data.memo"), theirs.json("data.memo"))
    })
  )

  it.effect("answers 404 for another owner's wallet exactly as for an unknown one", () =>
    Effect.gen(function* () {
      const { walletsOf } = yield* FundingService
      const theirs = walletsOf("neighbour")[0]
      const unknown = yield* deposit("w_none", SOL_NATIVE, "b")
      assertRefused(unknown, 404, "wallet_not_found")
      const own = yield* ownWallet("solana")
      for (const wallet of [theirs?.walletId ?? "", theirs?.address ?? "", own.address, own.walletId.toUpperCase()]) {
        const answer = yield* deposit(wallet, SOL_NATIVE, "b")
        assert.strictEqual(answer.status, 404)
        assert.deepStrictEqual(bodyOf(answer), bodyOf(unknown))
        assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "1")
      }
      assert.strictEqual((yield* deposit(theirs?.walletId ?? "", SOL_NATIVE, "n")).status, 200)
      assertRefused(yield* deposit(own.walletId, SOL_NATIVE, "n"), 404, "wallet_not_found")
      assertRefused(yield* deposit(own.walletId, SOL_NATIVE, "o"), 404, "wallet_not_found")
    })
  )

  const targets: ReadonlyArray<readonly [string, string, string]> = [
    ["a family in place of a network", "solana", "solana-mainnet/native"],
    ["a network of another name", "ethereum", "ethereum-mainnet/native"],
    ["a network in capitals", "Solana-Mainnet", "solana-mainnet/native"],
    ["a network with a space", "solana-mainnet ", "solana-mainnet/native"],
    ["a network of another family", "base-mainnet", "base-mainnet/native"],
    ["an asset by its symbol", "solana-mainnet", "SOL"],
    ["an asset by its address", "solana-mainnet", "So11111111111111111111111111111111111111112"],
    ["an asset of another network", "solana-mainnet", "solana-custody/native"],
    ["a property that every object has", "__proto__", "constructor"]
  ]

  for (const [what, network, asset] of targets) {
    it.effect(`answers 404 for ${what}`, () =>
      Effect.gen(function* () {
        const { walletId } = yield* ownWallet("solana")
        assertRefused(yield* deposit(walletId, { network, asset }, "c"), 404, "funding_target_not_found")
      })
    )
  }

  it.effect("answers 404 for a wallet that is not verified", () =>
    Effect.gen(function* () {
      const { walletsOf } = yield* FundingService
      const wallet = walletsOf("welcome").find(({ verified }) => !verified)
      const query = { network: "base-mainnet", asset: "base-mainnet/native" }
      assertRefused(yield* deposit(wallet?.walletId ?? "", query), 404, "funding_target_not_found")
    })
  )

  const whole = { wallet: "w", network: "n", asset: "a" }
  const odd: ReadonlyArray<readonly [string, string, string, string]> = [
    ["no wallet", "network=n&asset=a", "wallet", "missing"],
    ["no network", "wallet=w&asset=a", "network", "missing"],
    ["no asset", "wallet=w&network=n", "asset", "missing"],
    ["an empty wallet", "wallet=&network=n&asset=a", "wallet", "out_of_range"],
    ["two wallets", "wallet=w&wallet=w&network=n&asset=a", "wallet", "repeated"],
    ["a long wallet", String(new URLSearchParams({ ...whole, wallet: "w".repeat(129) })), "wallet", "too_long"],
    ["a long network", String(new URLSearchParams({ ...whole, network: "n".repeat(129) })), "network", "too_long"],
    ["a long asset", String(new URLSearchParams({ ...whole, asset: "a".repeat(257) })), "asset", "too_long"],
    ["a user", String(new URLSearchParams({ ...whole, userId: "welcome" })), "userId", "unknown"],
    ["an owner", String(new URLSearchParams({ ...whole, owner: "welcome" })), "owner", "unknown"],
    ["a wallet id of another list", String(new URLSearchParams({ ...whole, walletId: "w" })), "walletId", "unknown"]
  ]

  for (const [what, query, field, issue] of odd) {
    it.effect(`answers 400 for ${what}`, () =>
      Effect.gen(function* () {
        assertInvalid(yield* call(`/api/v1/account/deposit-address?${query}`, { key: "d" }), field, issue)
      })
    )
  }

  it.effect("takes ids as long as the contract allows", () =>
    Effect.gen(function* () {
      const query = { network: "n".repeat(128), asset: "a".repeat(256) }
      assertRefused(yield* deposit("w".repeat(128), query), 404, "wallet_not_found")
      const { walletId } = yield* ownWallet("solana")
      assertRefused(yield* deposit(walletId, query), 404, "funding_target_not_found")
    })
  )

  it.effect("answers 503 while the service is down or confused, and then again 200", () =>
    Effect.gen(function* () {
      const { faults } = yield* FundingService
      const { walletId } = yield* ownWallet("solana")
      for (const fault of [
        { http: "500" },
        { http: "429" },
        { answers: "malformed" },
        { answers: "foreign" }
      ] as const) {
        yield* faults.set(fault)
        const answer = yield* deposit(walletId, SOL_NATIVE, "e")
        assertRefused(answer, 503, "data_unavailable")
        assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "0")
        yield* faults.clear
        yield* TestClock.adjust("1 minute")
        assert.strictEqual((yield* deposit(walletId, SOL_NATIVE, "e")).status, 200)
      }
    })
  )
})

const asked = { network: "solana-mainnet", asset: "solana-mainnet/usdc" }
const saying = (change: object): Partial<Script> => ({
  deposit: { owner: OWNER, deposit: { ...solDeposit, ...change } }
})

const lies: ReadonlyArray<readonly [string, Partial<Script>]> = [
  ["another wallet", saying({ ownedWallet: { ...solDeposit.ownedWallet, walletId: "w_secret" } })],
  ["another network", saying({ network: { ...solDeposit.network, id: "secret-network" } })],
  ["another asset", saying({ asset: { ...solDeposit.asset, id: "secret-asset" } })],
  ["another owner", { deposit: { owner: "secret-owner", deposit: solDeposit } }],
  ["a field that is not of the contract", saying({ secret: "secret" })],
  ["an address that is none", saying({ address: "secret" })],
  ["an amount with a leading zero", saying({ minimumAtomic: "007" })],
  ["no memo where one is needed", saying({ memoRequired: true })],
  ["a 404 that is not of the protocol", { deposit: response(404, "secret") }],
  ["a failure with a body", { deposit: response(500, "secret") }],
  ["half of it", { deposit: response(200, JSON.stringify(solDeposit).slice(0, 50)) }]
]

layer(servingAScript)("GET /account/deposit-address, when the service answers", (it) => {
  for (const [what, change] of lies) {
    it.effect(`${what}, answers 503 and nothing of it`, () =>
      Effect.gen(function* () {
        scripted.say(change)
        const answer = yield* deposit("w_sol", asked)
        assertRefused(answer, 503, "data_unavailable")
        assert.notMatch(answer.text, /secret|w_sol|acct_1|solana|127\.0\.0\.1/u)
        scripted.say({})
        yield* TestClock.adjust("1 minute")
        assert.strictEqual((yield* deposit("w_sol", asked)).status, 200)
        yield* TestClock.adjust("1 minute")
      })
    )
  }

  it.effect("nothing of wallets of others, because it is not asked", () =>
    Effect.gen(function* () {
      const before = scripted.asked().length
      yield* deposit("w_of_somebody_else", asked)
      yield* deposit("w_of_nobody", asked)
      const questions = scripted
        .asked()
        .slice(before)
        .map(({ url }) => url)
      assert.deepStrictEqual(questions, [`/v1/owners/${OWNER}/wallets`, `/v1/owners/${OWNER}/wallets`])
    })
  )

  it.effect("answers 404 when it says that the wallet or the target is gone", () =>
    Effect.gen(function* () {
      scripted.say({ deposit: response(404, `{"error":"unknown_wallet"}`) })
      assertRefused(yield* deposit("w_sol", asked), 404, "wallet_not_found")
      scripted.say({ deposit: response(404, `{"error":"unknown_target"}`) })
      assertRefused(yield* deposit("w_sol", asked), 404, "funding_target_not_found")
    })
  )
})
