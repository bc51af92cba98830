import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { programs } from "../../src/programs/registry.ts"
import { MAX_U64 } from "../../src/domain/Amount.ts"
import { type Mint, SOL, USDC } from "../../src/domain/Address.ts"
import { PoolBook } from "../../src/quotes/pools/PoolBook.ts"
import { Simulator } from "../../src/simulator/Simulator.ts"
import { ChainFeed } from "../../src/chain/ChainFeed.ts"
import * as SimulatedMarket from "../../src/testing/SimulatedMarket.ts"
import { ActivityReader } from "../../src/tokens/ActivityReader.ts"
import { AuditReader } from "../../src/tokens/AuditReader.ts"
import { depthOf, feeBpsOf, midRate } from "../../src/tokens/poolPrice.ts"
import { PriceBook } from "../../src/tokens/PriceBook.ts"
import { RiskReader } from "../../src/tokens/risk/RiskReader.ts"
import { TokenBook } from "../../src/tokens/TokenBook.ts"
import { TokenReader } from "../../src/tokens/TokenReader.ts"

const readers = Layer.mergeAll(TokenReader.layer, RiskReader.layer.pipe(Layer.provide(AuditReader.layer))).pipe(
  Layer.provide([TokenBook.layer, PriceBook.layer, ActivityReader.layerUnknown]),
  // No trades, so that two reads are the same.
  Layer.provideMerge(SimulatedMarket.layer({ seed: "embedding", swapsPerSecond: 0 }))
)

const eventually = Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 500 })

/** Every coin, once all coins have a price. */
const pricedCoins = Effect.gen(function* () {
  const tokens = yield* TokenReader
  const { mints } = yield* Simulator
  const all = mints().map(({ address }) => address)
  const { data } = yield* tokens.pricesOf(all).pipe(
    Effect.filterOrFail(({ data }) => data.every(({ priceSol }) => priceSol.value !== null)),
    eventually
  )
  return data
})

layer(readers, { excludeTestServices: true })("tokens of a simulated chain", (it) => {
  it.effect("have a price close to what their pools pay for small amounts, whatever the venue", () =>
    Effect.gen(function* () {
      const book = yield* PoolBook
      const { mints } = yield* Simulator
      const decimalsOf = (mint: Mint) => mints().find(({ address }) => address === mint)?.decimals ?? 0
      const coins = (yield* pricedCoins).filter(({ mint }) => mint !== SOL && mint !== USDC)
      const clock = (yield* ChainFeed).clock()
      const venues = new Set<string>()
      for (const { mint, priceSol } of coins) {
        for (const pool of book.between(mint, SOL)?.pools ?? []) {
          const { amountOut, ending } = pool.swap(pool.mintA === SOL, 1_000_000n, clock)
          if (ending === "refused") {
            // Pools that are not open have no weight.
            assert.isNull(midRate(pool, mint, clock), pool.dex)
            continue
          }
          venues.add(pool.dex)
          const paid = (1_000_000 / Number(amountOut)) * 10 ** (decimalsOf(mint) - 9)
          assert.approximately(paid / Number(priceSol.value), 1, 0.12, `${pool.dex} ${mint}`)
        }
      }
      assert.isAtLeast(venues.size, programs.length - 1)
    })
  )

  it.effect("are traded by pools that never pay more than the reserves they state", () =>
    Effect.gen(function* () {
      yield* pricedCoins
      const book = yield* PoolBook
      const clock = (yield* ChainFeed).clock()
      const stated = book
        .poolsOf(SOL)
        .flatMap((pool) => (pool.reserves === undefined ? [] : [{ pool, reserves: pool.reserves }]))
      assert.isAtLeast(new Set(stated.map(({ pool }) => pool.dex)).size, 4)
      for (const { pool, reserves } of stated) {
        for (const amount of [1n, 10n ** 9n, 10n ** 15n, MAX_U64]) {
          assert.isTrue(pool.swap(true, amount, clock).amountOut <= reserves[1], `${pool.dex} sells A`)
          // A purchase beyond the end of a pump.fun curve also takes tokens of the pool to come.
          const kept = pool.dex === "pump-fun-curve" ? 206_900_000_000_000n : 0n
          assert.isTrue(pool.swap(false, amount, clock).amountOut <= reserves[0] + kept, `${pool.dex} sells B`)
        }
      }
    })
  )

  it.effect("have depth in every pool, with reserves worth about the same on both sides", () =>
    Effect.gen(function* () {
      yield* pricedCoins
      const tokens = yield* TokenReader
      const { data } = yield* tokens.liquidityOf(SOL, 50)
      assert.isAtLeast(data.pools.length, 20)
      assert.isTrue(data.pools.every(({ liquidityUsd }) => Number(liquidityUsd) > 0))
      const values = data.pools.map(({ liquidityUsd }) => Number(liquidityUsd))
      assert.deepStrictEqual(
        values,
        values.toSorted((a, b) => b - a)
      )
      const plain = data.pools.filter(({ dex }) => dex === "raydium-amm-v4")
      assert.isNotEmpty(plain)
      for (const { feeBps, liquidityUsd, quoteReserve, baseReserve } of plain) {
        assert.strictEqual(feeBps, 25)
        assert.isNotNull(quoteReserve)
        const solUsd = Number((yield* tokens.pricesOf([SOL])).data[0]?.priceUsd.value)
        const solSide = (Number(baseReserve) / 1e9) * solUsd
        assert.approximately(Number(liquidityUsd) / (2 * solSide), 1, 0.1)
      }
    })
  )

  it.effect("have reserves, a fee and a depth that ends where the price has moved by 2 %, at every venue", () =>
    Effect.gen(function* () {
      yield* pricedCoins
      const book = yield* PoolBook
      const clock = (yield* ChainFeed).clock()
      const venues = new Set<string>()
      for (const pool of book.poolsOf(SOL)) {
        assert.isDefined(pool.reserves, pool.dex)
        assert.isNotNull(feeBpsOf(pool, clock), pool.dex)
        const depth = depthOf(pool, SOL, clock)
        for (const [sells, swap] of [
          [pool.mintA === SOL, depth.sale],
          [pool.mintA !== SOL, depth.purchase]
        ] as const) {
          if (swap === null || !swap.complete || swap.amountIn < 1_000_000n) {
            continue
          }
          // The mean price of a small part of the swap, at its beginning and at its end.
          const part = swap.amountIn / 1000n
          const begin = pool.swap(sells, part, clock).amountOut
          const end = swap.amountOut - pool.swap(sells, swap.amountIn - part, clock).amountOut
          const least = pool.dex === "meteora-dlmm" ? 0.95 : 0.975
          assert.isAtLeast(Number(end) / Number(begin), least, `${pool.dex} ${sells}`)
          const further = pool.swap(sells, swap.amountIn + part, clock).amountOut - swap.amountOut
          if (swap.amountOut > 10_000_000n && further > 0n) {
            assert.isAtMost(Number(further) / Number(begin), 0.99, `${pool.dex} ${sells}`)
            venues.add(pool.dex)
          }
        }
      }
      assert.isAtLeast(venues.size, programs.length - 2, [...venues].join(" "))
    })
  )

  it.effect("have the authorities that their mint accounts state", () =>
    Effect.gen(function* () {
      const risks = yield* RiskReader
      const { mints } = yield* Simulator
      const named = (symbol: string) => mints().find((mint) => mint.symbol === symbol)?.address ?? SOL
      const factsOf = (mint: Mint) =>
        risks.riskOf(mint).pipe(
          Effect.map(({ facts }) => facts),
          Effect.filterOrFail(({ mint_authority_active }) => mint_authority_active !== null),
          eventually
        )
      assert.deepInclude(yield* factsOf(named("FERN")), { mint_authority_active: true, freeze_authority_active: false })
      assert.deepInclude(yield* factsOf(USDC), { mint_authority_active: false, freeze_authority_active: false })
      const tokens = yield* TokenReader
      const taxed = yield* tokens.factsOf(named("TITHE")).pipe(eventually)
      assert.deepInclude(taxed.data, { tokenProgram: "token-2022", extensions: ["transfer_fee"] })
    })
  )
})
