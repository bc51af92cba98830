import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { FundingClient } from "../../src/funding/FundingClient.ts"
import {
  asking,
  balance,
  balances,
  baseDeposit,
  custodyDeposit,
  NOW,
  OWNER,
  portTo,
  response,
  solana,
  solDeposit,
  solListed,
  wallets
} from "./scriptedFunding.ts"

const target = { owner: OWNER, walletId: "w_sol", networkId: "solana-mainnet", assetId: "solana-mainnet/usdc" }

describe("FundingClientHttp", () => {
  it.effect("reads the registry of an owner", () =>
    asking((client, { asked }) =>
      Effect.gen(function* () {
        const read = yield* client.wallets(OWNER)
        assert.deepStrictEqual(read, { wallets: wallets.wallets, asOf: NOW })
        assert.deepStrictEqual(asked, [{ url: "/v1/owners/acct_1/wallets", authorization: "Bearer credential" }])
      })
    )
  )

  it.effect("reads the catalog, whole or for one verified wallet", () =>
    asking((client) =>
      Effect.gen(function* () {
        const ids = (read: { readonly networks: typeof whole.networks }) =>
          read.networks.map(({ network }) => network.id)
        const whole = yield* client.catalog({ owner: OWNER })
        assert.deepStrictEqual(ids(whole), ["solana-mainnet", "solana-custody", "base-mainnet"])
        assert.strictEqual(whole.networks[0]?.assets[0]?.minimumAtomic, 1_000_000n)
        assert.isNull(whole.networks[2]?.assets[0]?.minimumAtomic)
        assert.deepStrictEqual(ids(yield* client.catalog({ owner: OWNER, walletId: "w_evm" })), ["base-mainnet"])
      })
    )
  )

  it.effect("reads balances, of all wallets or of one", () =>
    asking((client, { asked, say }) =>
      Effect.gen(function* () {
        const read = yield* client.balances({ owner: OWNER })
        assert.deepInclude(read.balances[0], { balance: 2_500_000n, valueUsd: "2.5", asOf: NOW - 9 })
        assert.strictEqual(asked.at(-1)?.url, "/v1/owners/acct_1/balances")
        say({ balances: { ...balances, unread: [{ chain: "base-mainnet", reason: "rpc_down" }] } })
        const one = yield* client.balances({ owner: OWNER, walletId: "w_sol" })
        assert.deepStrictEqual(one.unread, [{ chain: "base-mainnet", reason: "rpc_down" }])
        assert.strictEqual(asked.at(-1)?.url, "/v1/owners/acct_1/balances?wallet=w_sol")
      })
    )
  )

  it.effect("asks for a deposit address only after wallets and catalog allow it", () =>
    asking((client, { asked, say }) =>
      Effect.gen(function* () {
        const deposit = yield* client.depositAddress(target)
        assert.deepStrictEqual(deposit, { ...solDeposit, minimumAtomic: 1_000_000n })
        assert.deepStrictEqual(
          asked.map(({ url }) => url),
          [
            "/v1/owners/acct_1/wallets",
            "/v1/catalog",
            "/v1/owners/acct_1/deposit-address?wallet=w_sol&network=solana-mainnet&asset=solana-mainnet%2Fusdc"
          ]
        )
        say({ deposit: { owner: OWNER, deposit: custodyDeposit } })
        const memo = yield* client.depositAddress({
          ...target,
          networkId: "solana-custody",
          assetId: "solana-custody/usdc"
        })
        assert.deepInclude(memo, { memoRequired: true, memo: "0042" })
        say({ deposit: { owner: OWNER, deposit: baseDeposit } })
        const evm = yield* client.depositAddress({
          owner: OWNER,
          walletId: "w_evm",
          networkId: "base-mainnet",
          assetId: "base-mainnet/usdc"
        })
        assert.deepInclude(evm, { address: baseDeposit.address, minimumAtomic: null })
      })
    )
  )

  it.effect("treats an owner as a name and never as a path", () =>
    asking((client, { asked, say }) =>
      Effect.gen(function* () {
        const owner = "../catalog?x=1#é/"
        say({ wallets: { ...wallets, owner } })
        assert.strictEqual((yield* client.wallets(owner)).wallets.length, 3)
        assert.strictEqual(asked[0]?.url, "/v1/owners/..%2Fcatalog%3Fx%3D1%23%C3%A9%2F/wallets")
        for (const odd of [".", "..", "", "\u{d800}"]) {
          assert.strictEqual((yield* Effect.flip(client.wallets(odd)))._tag, "FundingUnavailable")
        }
      })
    )
  )

  it.effect("stays below the configured path, and sends no token when there is none", () =>
    asking((_, { asked, say, url }) =>
      Effect.gen(function* () {
        say({})
        yield* FundingClient.use(({ wallets }) => wallets(OWNER)).pipe(
          Effect.provide(portTo({ url: `${url}/funding`, token: null }))
        )
        assert.deepStrictEqual(asked, [{ url: "/funding/v1/owners/acct_1/wallets", authorization: undefined }])
      })
    )
  )
})

const edges: ReadonlyArray<readonly [string, object, string | null]> = [
  ["no minimum", { minimumAtomic: null }, null],
  ["a minimum of zero", { minimumAtomic: "0" }, "0"],
  ["a minimum of 128 digits", { minimumAtomic: "9".repeat(128) }, "9".repeat(128)]
]

describe("FundingClientHttp passes on", () => {
  for (const [what, change, expected] of edges) {
    it.effect(what, () =>
      asking((client, { say }) =>
        Effect.gen(function* () {
          say({ deposit: { owner: OWNER, deposit: { ...solDeposit, ...change } } })
          const { minimumAtomic } = yield* client.depositAddress(target)
          assert.strictEqual(minimumAtomic === null ? null : minimumAtomic.toString(), expected)
        })
      )
    )
  }

  for (const asOf of [0, Number.MAX_SAFE_INTEGER]) {
    it.effect(`the time ${asOf}`, () =>
      asking((client, { say }) =>
        Effect.gen(function* () {
          say({ deposit: { owner: OWNER, deposit: { ...solDeposit, asOf } } })
          assert.strictEqual((yield* client.depositAddress(target)).asOf, asOf)
        })
      )
    )
  }

  for (const decimals of [0, 18, 36]) {
    it.effect(`an asset with ${decimals} decimals`, () =>
      asking((client, { say }) =>
        Effect.gen(function* () {
          const networks = [{ network: solana, assets: [{ ...solListed, decimals }] }]
          say({ catalog: { networks, asOf: NOW } })
          assert.strictEqual((yield* client.catalog({ owner: OWNER })).networks[0]?.assets[0]?.decimals, decimals)
        })
      )
    )
  }

  it.effect("unknown balances as null, with their reason and their own times", () =>
    asking((client, { say }) =>
      Effect.gen(function* () {
        const unknown = { ...balance, balance: null, valueUsd: null, asOf: 7, reason: "rpc_timeout" }
        say({ balances: { ...balances, balances: [unknown] } })
        const read = yield* client.balances({ owner: OWNER })
        assert.deepInclude(read.balances[0], {
          balance: null,
          valueUsd: null,
          priceUsd: "1",
          asOf: 7,
          reason: "rpc_timeout"
        })
      })
    )
  )
})

const unknownTargets: ReadonlyArray<readonly [string, Partial<typeof target>, string, number]> = [
  ["a wallet that the owner does not have", { walletId: "w_other" }, "UnknownWallet", 1],
  ["an address in place of a wallet id", { walletId: wallets.wallets[0]?.address ?? "" }, "UnknownWallet", 1],
  ["a wallet id in capitals", { walletId: "W_SOL" }, "UnknownWallet", 1],
  ["a wallet that is not verified", { walletId: "w_new" }, "UnknownFundingTarget", 1],
  ["a network that is not in the catalog", { networkId: "ethereum" }, "UnknownFundingTarget", 2],
  ["a family in place of a network", { networkId: "solana" }, "UnknownFundingTarget", 2],
  ["an asset that is not in the catalog", { assetId: "usdc" }, "UnknownFundingTarget", 2],
  ["an asset of another network", { assetId: "solana-custody/usdc" }, "UnknownFundingTarget", 2],
  [
    "a network of another family",
    { networkId: "base-mainnet", assetId: "base-mainnet/usdc" },
    "UnknownFundingTarget",
    2
  ]
]

describe("FundingClientHttp rejects", () => {
  for (const [what, change, tag, questions] of unknownTargets) {
    it.effect(`${what}, without asking for an address`, () =>
      asking((client, { asked }) =>
        Effect.gen(function* () {
          assert.strictEqual((yield* Effect.flip(client.depositAddress({ ...target, ...change })))._tag, tag)
          assert.strictEqual(asked.length, questions)
        })
      )
    )
  }

  it.effect("what the service rejects", () =>
    asking((client, { say }) =>
      Effect.gen(function* () {
        for (const [error, tag] of [
          ["unknown_wallet", "UnknownWallet"],
          ["unknown_target", "UnknownFundingTarget"]
        ] as const) {
          say({ deposit: response(404, JSON.stringify({ error })) })
          assert.strictEqual((yield* Effect.flip(client.depositAddress(target)))._tag, tag)
        }
      })
    )
  )

  it.effect("wallets of other owners in catalog and balances", () =>
    asking((client) =>
      Effect.gen(function* () {
        const choice = { owner: OWNER, walletId: "w_other" }
        assert.strictEqual((yield* Effect.flip(client.catalog(choice)))._tag, "UnknownWallet")
        assert.strictEqual((yield* Effect.flip(client.balances(choice)))._tag, "UnknownWallet")
        const fresh = { owner: OWNER, walletId: "w_new" }
        assert.strictEqual((yield* Effect.flip(client.catalog(fresh)))._tag, "UnknownFundingTarget")
      })
    )
  )
})
