import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { Pool } from "../../src/programs/interface/Program.ts"
import type { Mint } from "../../src/domain/Address.ts"
import type { PoolGraph } from "../../src/quotes/pools/PoolGraph.ts"
import { bestPath, type Trade } from "../../src/quotes/bestPath.ts"
import { pricedRoute } from "../../src/quotes/routedQuote.ts"
import { splitRoute } from "../../src/quotes/splitRoute.ts"
import { spreadRoute } from "../../src/quotes/spreadRoute.ts"
import { routeLoss } from "../../scripts/bench/routeLoss.ts"
import { exhaustive } from "./exhaustive.ts"
import { at, constantProduct } from "./toyChain.ts"

const clock = { slot: 1, epoch: 0, unixTimestamp: 0 }

const graphOf = (pools: ReadonlyArray<Pool>): PoolGraph => ({
  partnersOf: (mint) =>
    new Set(pools.flatMap(({ mintA, mintB }) => (mintA === mint ? [mintB] : mintB === mint ? [mintA] : []))),
  poolsBetween: (a, b) =>
    pools.filter(({ mintA, mintB }) => (mintA === a && mintB === b) || (mintA === b && mintB === a))
})

const Reserve = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1_000n, maximum: 1_000_000_000n }))
const MintIndex = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 6 }))
const Edge = Schema.Struct({ a: MintIndex, b: MintIndex, x: Reserve, y: Reserve, most: Reserve })
const Market = Schema.Array(Edge).check(Schema.isMinLength(4), Schema.isMaxLength(14))
const Amount = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1_000n, maximum: 10_000_000n }))
const Hops = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4 }))

const poolsOf = (edges: ReadonlyArray<typeof Edge.Type>): ReadonlyArray<Pool> =>
  edges.flatMap(({ a, b, x, y, most }, i) =>
    a === b ? [] : [constantProduct(at(100 + i), at(a), at(b), [x, y], { most })]
  )

const tradeOf = (amount: bigint, maxHops: number): Trade => ({ inputMint: at(1), outputMint: at(2), amount, maxHops })

describe("bestPath", () => {
  it.effect.prop(
    "finds the same path as trying every path",
    [Market, Amount, Hops],
    ([edges, amount, hops]) =>
      Effect.sync(() => {
        const pools = poolsOf(edges)
        const trade = tradeOf(amount, hops)
        const found = bestPath(graphOf(pools), trade, clock)
        assert.strictEqual(found === null || found.exhausted ? 0n : found.amount, exhaustive(pools, trade, clock))
      }),
    { arbitrary: { runs: 1000 } }
  )

  it("takes a second choice at a mint when its best way came through the next mint", () => {
    // The richest way to 4 passes through 3, and only 3 leads from 4 to the output.
    const pools = [
      constantProduct(at(100), at(1), at(3), [1_000n, 1_000_000n]),
      constantProduct(at(101), at(3), at(4), [1_000n, 1_000_000n]),
      constantProduct(at(102), at(1), at(5), [1_000_000n, 1_000_000n]),
      constantProduct(at(103), at(5), at(4), [1_000_000n, 1_000_000n]),
      constantProduct(at(104), at(4), at(3), [1_000_000n, 90_000_000n]),
      constantProduct(at(105), at(3), at(2), [1_000_000n, 1_000_000n])
    ]
    const trade = tradeOf(10_000n, 4)
    assert.strictEqual(bestPath(graphOf(pools), trade, clock)?.amount, exhaustive(pools, trade, clock))
  })

  it("offers a path that runs out only when none takes the whole amount, and marks it", () => {
    const small = constantProduct(at(100), at(1), at(2), [1_000n, 1_000_000n], { most: 500n })
    const poor = constantProduct(at(101), at(1), at(2), [1_000_000n, 1_000n])
    const trade = tradeOf(100_000n, 2)
    assert.strictEqual(bestPath(graphOf([small, poor]), trade, clock)?.via?.pool.address, poor.address)
    assert.isTrue(bestPath(graphOf([small]), trade, clock)?.exhausted)
  })

  it("does not depend on the order in which pools are listed", () => {
    const twins = [2, 1].map((n) => constantProduct(at(100 + n), at(1), at(2), [1_000n, 1_000n]))
    const trade = tradeOf(100n, 1)
    const one = bestPath(graphOf(twins), trade, clock)?.via?.pool.address
    assert.strictEqual(bestPath(graphOf(twins.toReversed()), trade, clock)?.via?.pool.address, one)
  })
})

describe("splitRoute", () => {
  it.effect.prop("never pays less than the undivided path, and its hops add up", [Market, Amount, Hops], (drawn) =>
    Effect.sync(() => {
      const [edges, amount, hops] = drawn
      const graph = graphOf(poolsOf(edges))
      const last = bestPath(graph, tradeOf(amount, hops), clock)
      if (last === null || last.exhausted) {
        return
      }
      const legs = splitRoute(graph, last, amount, clock)
      assert.isAtLeast(Number((legs.at(-1)?.amountOut ?? 0n) - last.amount), 0)
      let held = amount
      for (const { amountIn, amountOut, shares } of legs) {
        assert.strictEqual(amountIn, held)
        assert.strictEqual(
          shares.reduce((sum, { percent }) => sum + percent, 0),
          100
        )
        assert.strictEqual(
          shares.reduce((sum, { swap }) => sum + swap.amountIn, 0n),
          amountIn
        )
        assert.strictEqual(
          shares.reduce((sum, { swap }) => sum + swap.amountOut, 0n),
          amountOut
        )
        held = amountOut
      }
    })
  )

  it("divides between equal pools because half of each pays more than all of one", () => {
    const pools = [1, 2].map((n) => constantProduct(at(100 + n), at(1), at(2), [1_000_000n, 1_000_000n]))
    const last = bestPath(graphOf(pools), tradeOf(1_000_000n, 1), clock)
    assert.isNotNull(last)
    const [leg] = last === null ? [] : splitRoute(graphOf(pools), last, 1_000_000n, clock)
    assert.deepStrictEqual(
      leg?.shares.map(({ percent }) => percent),
      [50, 50]
    )
    assert.strictEqual(leg?.amountOut, 666_666n)
  })
})

const spread = (pools: ReadonlyArray<Pool>, trade: Trade) => spreadRoute(graphOf(pools), trade, clock)

describe("spreadRoute", () => {
  it.effect.prop(
    "never pays less than the divided path, and never chains more pools than asked",
    [Market, Amount, Hops],
    (drawn) =>
      Effect.sync(() => {
        const [edges, amount, hops] = drawn
        const graph = graphOf(poolsOf(edges))
        const last = bestPath(graph, tradeOf(amount, hops), clock)
        const found = spreadRoute(graph, tradeOf(amount, hops), clock)
        if (last === null || last.exhausted || found === null) {
          assert.strictEqual(found?.isExhausted, last?.exhausted)
          return
        }
        const { shares, amountOut } = found
        assert.isAtLeast(Number(amountOut - (splitRoute(graph, last, amount, clock).at(-1)?.amountOut ?? 0n)), 0)
        const depths = new Map<Mint, number>()
        for (const { inputMint, outputMint } of shares) {
          depths.set(outputMint, Math.max(depths.get(outputMint) ?? 0, (depths.get(inputMint) ?? 0) + 1))
        }
        assert.isAtMost(Math.max(...depths.values()), hops)
        assert.strictEqual(new Set(shares.map(({ pool }) => pool.address)).size, shares.length)
        for (const mint of new Set(shares.map(({ inputMint }) => inputMint))) {
          const leaving = shares.filter(({ inputMint }) => inputMint === mint)
          assert.closeTo(
            leaving.reduce((sum, { percent }) => sum + percent, 0),
            100,
            1e-9
          )
        }
      })
  )

  it("goes through a shared pool once when two paths lead into it", () => {
    const pools = [
      constantProduct(at(100), at(1), at(3), [1_000_000n, 1_000_000n]),
      constantProduct(at(101), at(1), at(4), [1_000_000n, 1_000_000n]),
      constantProduct(at(102), at(4), at(3), [9_000_000n, 9_000_000n]),
      constantProduct(at(103), at(3), at(2), [9_000_000n, 9_000_000n])
    ]
    const found = spread(pools, tradeOf(500_000n, 4))
    assert.deepStrictEqual(
      found?.shares.map(({ pool }) => pool.address),
      [at(100), at(101), at(102), at(103)]
    )
    // Undivided it pays 333,333 and then 321,428.
    assert.isAbove(Number(found?.amountOut), 370_000)
  })

  it("never uses a pool in both directions or goes in a circle", () => {
    // One path goes from 3 to 4, the other from 4 to 3.
    const pools = [
      constantProduct(at(100), at(1), at(3), [1_000_000n, 1_000_000n]),
      constantProduct(at(101), at(1), at(4), [1_000_000n, 1_000_000n]),
      constantProduct(at(102), at(3), at(4), [1_000_000n, 1_000_000n]),
      constantProduct(at(103), at(3), at(2), [1_000_000n, 1_000_000n]),
      constantProduct(at(104), at(4), at(2), [1_000_000n, 1_000_000n])
    ]
    const found = spread(pools, tradeOf(500_000n, 3))
    assert.deepStrictEqual(
      found?.shares.map(({ pool, percent }) => [pool.address, percent]),
      [
        [at(100), 50],
        [at(101), 50],
        [at(103), 100],
        [at(104), 100]
      ]
    )
  })

  it("pays within five basis points of the best flow over all paths, and to the unit when executed", () => {
    for (const measured of Object.values(routeLoss(100))) {
      assert.isAtMost(measured.lossBps.p99 ?? 100, 5)
      assert.strictEqual(measured.replayedExactly, measured.routes)
      assert.deepInclude(measured, { worseThanDivided: 0, tooManyHops: 0 })
    }
  })
})

describe("pricedRoute", () => {
  const request = { inputMint: at(1), outputMint: at(2), amount: 50_000n, slippageBps: 50 }

  it.effect.prop("can be replayed hop by hop to the unit", [Market, Amount, Hops], ([edges, amount, maxHops]) =>
    Effect.sync(() => {
      const pools = poolsOf(edges)
      const route = pricedRoute(graphOf(pools), { ...request, amount, maxHops }, clock)
      if (route === null || route.clamped) {
        return
      }
      const held = new Map<Mint, bigint>([[at(1), amount]])
      for (const hop of route.route) {
        const pool = pools.find(({ address }) => address === hop.pool)
        const swap = pool?.swap(pool.mintA === hop.inputMint, hop.amountIn, clock)
        assert.strictEqual(swap?.amountOut, hop.amountOut)
        held.set(hop.inputMint, (held.get(hop.inputMint) ?? 0n) - hop.amountIn)
        held.set(hop.outputMint, (held.get(hop.outputMint) ?? 0n) + hop.amountOut)
      }
      assert.strictEqual(held.get(at(2)), route.outAmount)
      held.delete(at(2))
      assert.isTrue(Array.from(held.values()).every((left) => left === 0n))
    })
  )

  const chain = [
    constantProduct(at(100), at(1), at(3), [1_000_000n, 1_000_000n], { dex: "one", slot: 7 }),
    constantProduct(at(101), at(3), at(2), [1_000_000n, 1_000_000n], { dex: "two", slot: 5 })
  ]

  it("measures the impact of the whole route and dates it by its oldest pool", () => {
    const route = pricedRoute(graphOf(chain), request, clock)
    // 50000 in, 47619 after one pool, 45454 after two, at a rate of one to one.
    assert.strictEqual(route?.outAmount, 45_454n)
    assert.strictEqual(route?.priceImpactPct, 9.092)
    assert.strictEqual(route?.stateSlot, 5)
  })

  it("honours venue and pool filters and the hop limit", () => {
    const graph = graphOf(chain)
    assert.isNull(pricedRoute(graph, { ...request, venues: ["one"] }, clock))
    assert.isNull(pricedRoute(graph, { ...request, pools: [at(100)] }, clock))
    assert.isNull(pricedRoute(graph, { ...request, maxHops: 1 }, clock))
    assert.isNull(pricedRoute(graph, { ...request, directOnly: true }, clock))
    assert.isNotNull(pricedRoute(graph, { ...request, venues: ["one", "two"], maxHops: 2 }, clock))
  })
})
