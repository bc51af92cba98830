import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Layer, Redacted } from "effect"
import { FundingClient } from "../../../src/funding/FundingClient.ts"
import * as FundingClientHttp from "../../../src/funding/FundingClientHttp.ts"
import { FundingService } from "../../../src/simulator/venues/FundingService.ts"
import { catalog, NEIGHBOUR, WELCOME } from "../../../src/simulator/venues/fundingWorld.ts"

const over = (desk: Layer.Layer<FundingService>) =>
  Layer.unwrap(
    Effect.map(FundingService, ({ token, url }) =>
      FundingClientHttp.layer({ token, url, timeout: Duration.seconds(10) }).pipe(
        Layer.provide(NodeHttpClient.layerUndici)
      )
    )
  ).pipe(Layer.provideMerge(desk), Layer.orDie)

const seeded = (seed: string) => over(Layer.orDie(FundingService.layer({ seed })))

const get = (url: string, token?: string) =>
  Effect.promise(() => fetch(url, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }))

const registry = (seed: string) =>
  FundingService.use(({ walletsOf }) => Effect.succeed(walletsOf(WELCOME))).pipe(
    Effect.provide(Layer.orDie(FundingService.layer({ seed })))
  )

describe("the simulated funding service", () => {
  for (const seed of ["fathom", "1", "2", "3"]) {
    it.effect(`answers everything that a strict client asks, with seed ${seed}`, () =>
      Effect.gen(function* () {
        const client = yield* FundingClient
        for (const owner of [WELCOME, NEIGHBOUR]) {
          const { wallets } = yield* client.wallets(owner)
          assert.isNotEmpty((yield* client.balances({ owner })).balances)
          for (const { walletId } of wallets.filter(({ verified }) => verified)) {
            const { networks } = yield* client.catalog({ owner, walletId })
            for (const { assets, network } of networks) {
              for (const { id } of assets) {
                yield* client.depositAddress({ owner, walletId, networkId: network.id, assetId: id })
              }
            }
          }
        }
      }).pipe(Effect.provide(seeded(seed)))
    )
  }

  it("has two families, a network with memos, an unknown minimum and more than 18 decimals", () => {
    const assets = catalog.flatMap((entry) => entry.assets)
    assert.sameMembers([...new Set(catalog.map(({ network }) => network.family))], ["solana", "evm"])
    assert.isTrue(catalog.some(({ network }) => network.memoRequired))
    assert.isTrue(assets.some(({ minimumAtomic }) => minimumAtomic === null))
    assert.isAbove(Math.max(...assets.map(({ decimals }) => decimals)), 18)
  })

  it.effect("is the same for the same seed, and different for another", () =>
    Effect.gen(function* () {
      const [one, again, other] = [yield* registry("a"), yield* registry("a"), yield* registry("b")]
      assert.deepStrictEqual(one, again)
      assert.isFalse(other.some(({ address }) => one.some((wallet) => wallet.address === address)))
    })
  )

  it.effect("gives every wallet its own address, and shares one only on networks with memos", () =>
    Effect.gen(function* () {
      const client = yield* FundingClient
      const { wallets } = yield* client.wallets(WELCOME)
      const sent = (walletId: string, networkId: string) =>
        client.depositAddress({ owner: WELCOME, walletId, networkId, assetId: `${networkId}/native` })
      const ids = wallets.filter(({ family }) => family === "solana").map(({ walletId }) => walletId)
      const own = yield* Effect.forEach(ids, (id) => sent(id, "solana-mainnet"))
      const shared = yield* Effect.forEach(ids, (id) => sent(id, "solana-custody"))
      assert.strictEqual(new Set(own.map(({ address }) => address)).size, ids.length)
      assert.strictEqual(new Set(shared.map(({ address }) => address)).size, 1)
      assert.strictEqual(new Set(shared.map(({ memo }) => memo)).size, ids.length)
    }).pipe(Effect.provide(seeded("fathom")))
  )

  it.effect("answers nothing without its credential or off its paths", () =>
    Effect.gen(function* () {
      const { token, url } = yield* FundingService
      assert.strictEqual((yield* get(`${url}/v1/catalog`)).status, 401)
      assert.strictEqual((yield* get(`${url}/v1/catalog`, "guess")).status, 401)
      assert.strictEqual((yield* get(`${url}/v1/catalog`, Redacted.value(token))).status, 200)
      assert.strictEqual((yield* get(`${url}/v2/catalog`, Redacted.value(token))).status, 404)
    }).pipe(Effect.provide(Layer.orDie(FundingService.layer())))
  )

  it.effect("has its configured faults from the start, until they are cleared", () =>
    Effect.gen(function* () {
      const { faults } = yield* FundingService
      const client = yield* FundingClient
      assert.strictEqual((yield* Effect.flip(client.wallets(WELCOME))).reason, "foreign")
      yield* faults.set({ answers: "ok" })
      const { balances, unread } = yield* client.balances({ owner: WELCOME })
      assert.deepStrictEqual(
        unread.map(({ chain }) => chain),
        ["base-mainnet", "arbitrum-one"]
      )
      assert.isTrue(balances.every(({ network }) => network.id.startsWith("solana") || network.id.startsWith("ether")))
      yield* faults.clear
      assert.isEmpty((yield* client.balances({ owner: WELCOME })).unread)
    }).pipe(
      Effect.provide(over(Layer.orDie(FundingService.layerConfig))),
      Effect.provideService(
        ConfigProvider.ConfigProvider,
        ConfigProvider.fromEnv({
          env: { SIMULATOR_FUNDING_ANSWERS: "foreign", SIMULATOR_FUNDING_UNREAD: "base-mainnet,arbitrum-one" }
        })
      )
    )
  )
})
