import { assert, describe, it } from "@effect/vitest"
import { isUnpriceable } from "../../../src/programs/interface/Program.ts"
import { SOL, USDC } from "../../../src/domain/Address.ts"
import { digestOf, makeBank, SLOT_MS } from "../../../src/simulator/chain/Bank.ts"
import { makeRandom } from "../../../src/simulator/chain/Random.ts"
import { makeMarket } from "../../../src/simulator/traders/Market.ts"
import { decode, decoded, discrepancies, newMarket, totalLamports, venues } from "../chain/chains.ts"

/** When a chain of these tests begins, in milliseconds since the Unix epoch. */
const BEGAN_MS = 1_790_000_000_000

describe("a new market", () => {
  const { bank, market } = newMarket("new")

  it("has pools of every venue, most of them against SOL", () => {
    const pools = market.pools()
    assert.sameMembers(Array.from(new Set(pools.map(({ dex }) => dex))), [...venues])
    const withSol = pools.filter(({ mintA, mintB }) => mintA === SOL || mintB === SOL)
    assert.isAbove(withSol.length / pools.length, 0.5)
  })

  it("is decoded by the engine from the accounts it asks for, and rejected where it must be", () => {
    for (const pool of market.pools()) {
      const read = decode(bank, pool)
      assert.strictEqual(
        isUnpriceable(read),
        !pool.open(),
        `${pool.dex} ${JSON.stringify(read, (_, value) => String(value))}`
      )
      if (!isUnpriceable(read)) {
        assert.strictEqual(read.mintA, pool.mintA)
        assert.strictEqual(read.mintB, pool.mintB)
      }
    }
    const refused = market.pools().filter(({ open }) => !open())
    const reasons = refused.map((pool) => Reflect.get(decode(bank, pool), "reason"))
    assert.includeMembers(reasons, ["closed", "unsupported"])
  })

  it("has coins with several competing pools, and one coin that taxes transfers", () => {
    const perMint = new Map<string, number>()
    for (const { mintA, mintB } of market.pools()) {
      const coin = [mintA, mintB].find((mint) => mint !== SOL && mint !== USDC) ?? USDC
      perMint.set(coin, (perMint.get(coin) ?? 0) + 1)
    }
    assert.isAbove(Array.from(perMint.values()).filter((count) => count >= 2).length, 6)
    assert.isAbove(market.mints().filter(({ address }) => bank.must(address).data.length > 82).length, 0)
  })
})

describe("a market that has traded for a while", () => {
  const { bank, market } = newMarket("traded", 90)
  const lamports = totalLamports(bank)
  const trades = { swaps: 0, arbitrages: 0, byPool: new Map<string, number>() }
  for (let slot = 0; slot < 400; slot++) {
    for (const { swaps } of market.advance().transactions) {
      trades.swaps += swaps.length
      trades.arbitrages += swaps.length > 1 ? 1 : 0
      swaps.forEach(({ pool }) => trades.byPool.set(pool, (trades.byPool.get(pool) ?? 0) + 1))
    }
  }

  it("has traded at about the requested rate, in every open pool and in no other", () => {
    assert.isAbove(trades.swaps, 0.7 * 90 * 160)
    assert.isBelow(trades.swaps, 1.4 * 90 * 160)
    assert.isAbove(trades.arbitrages, 20)
    for (const pool of market.pools()) {
      assert.strictEqual(trades.byPool.has(pool.address), pool.open(), `${pool.dex} ${pool.address}`)
    }
  })

  it("still decodes, and pays what the engine quotes, in both directions and at many sizes", () => {
    const random = makeRandom("sizes")
    const clock = bank.clock()
    for (const pool of market.pools().filter(({ open }) => open())) {
      const engine = decoded(bank, pool)
      for (const aToB of [true, false]) {
        for (const share of [1e-9, 1e-6, 1e-4, 0.003, 0.05]) {
          const { a, b } = pool.depth()
          const amountIn = BigInt(Math.max(1, Math.floor((aToB ? a : b) * share * random.between(0.5, 1.5))))
          const quoted = engine.swap(aToB, amountIn, clock)
          const planned = pool.plan(aToB, amountIn, clock)
          const where = `${pool.dex} ${pool.address} ${aToB} ${amountIn}`
          if (planned === null) {
            assert.isTrue(quoted.ending !== "filled" || quoted.amountOut === 0n, where)
          } else {
            assert.strictEqual(planned.amountOut, quoted.amountOut, where)
            assert.strictEqual(planned.amountIn, quoted.amountIn, where)
          }
        }
      }
    }
  })

  it("has neither created nor lost money", () => {
    for (const [mint, difference] of discrepancies(bank)) {
      assert.strictEqual(difference, 0n, mint)
    }
    assert.strictEqual(totalLamports(bank), lamports)
  })

  it("keeps the pools of one mint in line with each other", () => {
    const clock = bank.clock()
    const prices = market
      .pools()
      .filter(({ open, mintA, mintB }) => open() && [mintA, mintB].includes(SOL) && [mintA, mintB].includes(USDC))
      .map((pool) => {
        const { numerator, denominator } = decoded(bank, pool).marginalRate(pool.mintA === SOL, clock)
        return Number(numerator) / Number(denominator)
      })
    assert.isAbove(prices.length, 3)
    assert.isBelow(Math.max(...prices) / Math.min(...prices), 1.02)
  })
})

const digestAfter = (seed: string, slots: number): string => {
  const { bank, market } = newMarket(seed)
  for (let slot = 0; slot < slots; slot++) {
    market.advance()
  }
  return digestOf(bank)
}

describe("a seed", () => {
  it("gives the same market every time, to the byte", () => {
    assert.strictEqual(digestAfter("one", 40), digestAfter("one", 40))
  })

  it("gives another market than any other seed", () => {
    assert.notStrictEqual(digestAfter("one", 5), digestAfter("two", 5))
  })
})

it("trades at one rate in its past, and at another once it is live", () => {
  const bank = makeBank({ seed: "rates", startSlot: 1_000, startUnixMs: BEGAN_MS })
  const liveUnixMs = BEGAN_MS + 400 * SLOT_MS
  const market = makeMarket({ seed: "rates", bank, swapsPerSecond: 20, pastSwapsPerSecond: 2, liveUnixMs })
  const swaps = { past: 0, live: 0 }
  for (let slot = 0; slot < 800; slot++) {
    const block = market.advance()
    const made = block.transactions.reduce((sum, transaction) => sum + transaction.swaps.length, 0)
    swaps[block.unixTimestamp * 1000 < liveUnixMs ? "past" : "live"] += made
  }
  assert.isAbove(swaps.past, 0.5 * 2 * 160)
  assert.isBelow(swaps.past, 2 * 2 * 160)
  assert.isAbove(swaps.live, 0.5 * 20 * 160)
  assert.isBelow(swaps.live, 2 * 20 * 160)
})
