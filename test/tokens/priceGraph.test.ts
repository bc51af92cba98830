import { assert, describe, it } from "@effect/vitest"
import { type Mint, SOL, USDC } from "../../src/domain/Address.ts"
import { compare, type Rational, reduce, whole } from "../../src/domain/rational.ts"
import { dollarValues } from "../../src/tokens/dollars.ts"
import { makePriceGraph, MOST_PARTNERS, type PriceEdge, type PriceEdges } from "../../src/tokens/priceGraph.ts"
import { randomFrom } from "../programs/syntheticPools.ts"
import { at } from "../quotes/toyChain.ts"

/** A pool by its price of `a` in `b` and its depth in units of `b`. */
interface Toy {
  readonly a: Mint
  readonly b: Mint
  readonly price: bigint
  readonly depth: bigint
  readonly n?: number
}

const inverse = ({ denominator, numerator }: Rational): Rational => ({ numerator: denominator, denominator: numerator })

const edgesOf = (pools: ReadonlyArray<Toy>): PriceEdges => ({
  partnersOf: (mint) => new Set(pools.flatMap(({ a, b }) => (a === mint ? [b] : b === mint ? [a] : []))),
  between: (mint, other) =>
    pools.flatMap(({ a, b, depth, price }, i): ReadonlyArray<PriceEdge> => {
      const pool = at(100 + (i % 150))
      if (a === mint && b === other) {
        return [{ pool, rate: whole(price), depth }]
      }
      return b === mint && a === other ? [{ pool, rate: inverse(whole(price)), depth: depth / price }] : []
    })
})

const [TOKEN, HUB, HUB_2, OTHER, FAR] = [at(1), at(2), at(3), at(4), at(5)]

const priceOf = (pools: ReadonlyArray<Toy>, mint = TOKEN, hubs: ReadonlyArray<Mint> = [HUB, HUB_2]) =>
  makePriceGraph(edgesOf(pools), { anchors: new Map([[SOL, whole(1n)]]), hubs, mostHops: 3, leastDepth: 10n })(mint)

const shown = (pools: ReadonlyArray<Toy>, mint = TOKEN, hubs?: ReadonlyArray<Mint>) => {
  const found = priceOf(pools, mint, hubs)
  if (found === null) {
    return null
  }
  const { denominator, numerator } = reduce(found.price)
  return { price: `${numerator}/${denominator}`, depth: found.depth, mints: found.path.map(({ to }) => to) }
}

describe("the price graph", () => {
  it("prices a mint through one other mint and through two", () => {
    assert.deepStrictEqual(shown([{ a: TOKEN, b: SOL, price: 7n, depth: 50n }]), {
      price: "7/1",
      depth: 50n,
      mints: [SOL]
    })
    assert.deepStrictEqual(
      shown([
        { a: TOKEN, b: OTHER, price: 3n, depth: 400n },
        { a: OTHER, b: SOL, price: 2n, depth: 500n }
      ]),
      { price: "6/1", depth: 500n, mints: [OTHER, SOL] }
    )
    assert.deepStrictEqual(
      shown([
        { a: TOKEN, b: OTHER, price: 3n, depth: 400n },
        { a: OTHER, b: HUB, price: 2n, depth: 60n },
        { a: HUB, b: SOL, price: 5n, depth: 10_000n }
      ]),
      { price: "30/1", depth: 300n, mints: [OTHER, HUB, SOL] }
    )
  })

  it("takes no path of more than three pools, and none whose third mint is not a hub", () => {
    const chain = [
      { a: TOKEN, b: OTHER, price: 3n, depth: 400n },
      { a: OTHER, b: FAR, price: 2n, depth: 400n },
      { a: FAR, b: SOL, price: 5n, depth: 10_000n }
    ]
    assert.isNull(shown(chain))
    assert.deepStrictEqual(shown(chain, TOKEN, [FAR])?.mints, [OTHER, FAR, SOL])
    const longer = [
      ...chain.slice(0, 2),
      { a: FAR, b: HUB, price: 1n, depth: 400n },
      { a: HUB, b: SOL, price: 1n, depth: 400n }
    ]
    assert.isNull(shown(longer, TOKEN, [FAR, HUB]))
  })

  it("takes no indirect path below the least depth, but any direct pool when there is no other", () => {
    assert.isNull(
      shown([
        { a: TOKEN, b: HUB, price: 1n, depth: 9n },
        { a: HUB, b: SOL, price: 1n, depth: 10_000n }
      ])
    )
    assert.isNull(
      shown([
        { a: TOKEN, b: HUB, price: 1n, depth: 10_000n },
        { a: HUB, b: SOL, price: 1n, depth: 9n }
      ])
    )
    assert.strictEqual(shown([{ a: TOKEN, b: SOL, price: 9n, depth: 0n }])?.price, "9/1")
  })

  it("prices a mint with many partners only directly and through hubs", () => {
    const crowd = Array.from({ length: MOST_PARTNERS + 1 }, (_, i) => ({
      a: TOKEN,
      b: at(20 + i),
      price: 1n,
      depth: 1000n
    }))
    const others = crowd.map(({ b }) => ({ a: b, b: SOL, price: 3n, depth: 1000n }))
    const hub = [
      { a: TOKEN, b: HUB, price: 1n, depth: 1000n },
      { a: HUB, b: SOL, price: 5n, depth: 1000n }
    ]
    assert.isNull(shown([...crowd, ...others]))
    assert.strictEqual(shown([...crowd, ...others, ...hub])?.price, "5/1")
  })

  it("lets a deep path of several pools outvote a thin direct pool", () => {
    const deep = [
      { a: TOKEN, b: HUB, price: 2n, depth: 5000n },
      { a: HUB, b: SOL, price: 3n, depth: 100_000n }
    ]
    assert.strictEqual(shown([...deep, { a: TOKEN, b: SOL, price: 900n, depth: 14_999n }])?.price, "6/1")
  })
})

/** A market of honest pools near true values, and its mints. */
const honestMarket = (random: () => number) => {
  const mints = Array.from({ length: 8 }, (_, i) => at(1 + i))
  const values = new Map<Mint, bigint>([[SOL, 1n]])
  mints.forEach((mint, i) => values.set(mint, 2n ** BigInt(8 - i)))
  const pools: Array<Toy> = []
  for (const [i, mint] of mints.entries()) {
    const targets = [SOL, ...mints.slice(i + 1)].filter((target) => (target === SOL ? random() < 0.6 : random() < 0.4))
    for (const target of targets) {
      const value = values.get(target) ?? 1n
      const price = (values.get(mint) ?? 1n) / value
      pools.push({ a: mint, b: target, price, depth: BigInt(100 + Math.floor(random() * 100_000)) / value + 20n })
    }
  }
  return { mints, values, pools }
}

describe("prices over random markets", () => {
  it("are exact when all pools agree, on paths that repeat no mint and end at an anchor", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const { mints, pools, values } = honestMarket(randomFrom(seed))
      for (const mint of mints) {
        const found = priceOf(pools, mint, mints.slice(0, 4))
        if (found !== null) {
          assert.strictEqual(compare(found.price, whole(values.get(mint) ?? 0n)), 0, `seed ${seed}`)
          const visited = [mint, ...found.path.map(({ to }) => to)]
          assert.strictEqual(new Set(visited).size, visited.length)
          assert.isAtMost(found.path.length, 3)
          assert.strictEqual(visited.at(-1), SOL)
        }
      }
    }
  })

  it("are not moved by a false pool with less depth than an honest direct pool", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const random = randomFrom(seed)
      const { mints, pools, values } = honestMarket(random)
      const direct = pools.find(({ a, b }) => a === TOKEN && b === SOL)
      if (direct === undefined) {
        continue
      }
      const other = random() < 0.5 ? SOL : (mints[1 + Math.floor(random() * 7)] ?? SOL)
      const price = BigInt(1 + Math.floor(random() * 1e9))
      // Its depth in units of SOL is below the depth of the honest pool.
      const depth = (direct.depth - 1n) / ((values.get(other) ?? 1n) * 2n)
      const found = priceOf([...pools, { a: TOKEN, b: other, price, depth }], TOKEN, mints.slice(0, 4))
      assert.strictEqual(
        found === null ? null : compare(found.price, whole(values.get(TOKEN) ?? 0n)),
        0,
        `seed ${seed}`
      )
    }
  })

  it("are not moved by a false price further down a path, however deep the earlier pool is", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const random = randomFrom(seed)
      const { mints, pools, values } = honestMarket(random)
      const direct = pools.find(({ a, b }) => a === TOKEN && b === SOL)
      if (direct === undefined) {
        continue
      }
      // A new mint with a pool of any depth against the token, and a thin one against SOL at any price.
      const price = BigInt(1 + Math.floor(random() * 1e9))
      const false1 = { a: TOKEN, b: at(60), price: 1n, depth: 10n ** 15n }
      const false2 = { a: at(60), b: SOL, price, depth: direct.depth / 2n }
      const found = priceOf([...pools, false1, false2], TOKEN, mints.slice(0, 4))
      assert.strictEqual(
        found === null ? null : compare(found.price, whole(values.get(TOKEN) ?? 0n)),
        0,
        `seed ${seed}`
      )
    }
  })
})

const [USDT, USD1] = [at(30), at(31)]
const THOUSAND = 1_000_000_000n

/** A pool of two stable coins with a price in thousandths. */
const peg =
  (mint: Mint, other: Mint, thousandths: bigint, depth: bigint): PriceEdges["between"] =>
  (a, b) => {
    const rate = { numerator: thousandths, denominator: 1000n }
    if (a === mint && b === other) {
      return [{ pool: at(90), rate, depth }]
    }
    return a === other && b === mint ? [{ pool: at(90), rate: inverse(rate), depth }] : []
  }

const values = (...pools: ReadonlyArray<PriceEdges["between"]>) => {
  const between: PriceEdges["between"] = (a, b) => pools.flatMap((pool) => pool(a, b))
  const found = dollarValues({ between, partnersOf: () => [] }, { stables: [USDC, USDT, USD1], toleranceBps: 100 })
  return [USDC, USDT, USD1].map((mint) => {
    const value = found.stables.get(mint)
    return value === undefined ? null : Number(value.numerator) / Number(value.denominator)
  })
}

describe("the values of stable coins", () => {
  it("are a dollar while their pools stay within the tolerance", () => {
    assert.deepStrictEqual(values(peg(USDT, USDC, 995n, THOUSAND), peg(USD1, USDC, 1010n, THOUSAND)), [1, 1, 1])
  })

  it("follow their pools beyond the tolerance", () => {
    assert.deepStrictEqual(values(peg(USDT, USDC, 900n, THOUSAND), peg(USD1, USDC, 999n, THOUSAND)), [1, 0.9, 1])
  })

  it("follow the majority when the reference itself has lost its peg", () => {
    const [usdc = 0, ...others] = values(peg(USDT, USDC, 1250n, THOUSAND), peg(USD1, USDC, 1250n, THOUSAND)).map(Number)
    assert.strictEqual(usdc, 0.8)
    assert.deepStrictEqual(others, [1, 1])
  })

  it("are a dollar when the pools are too thin to check them", () => {
    assert.deepStrictEqual(values(peg(USDT, USDC, 500n, THOUSAND - 1n)), [1, 1, 1])
  })
})
