import { assert, describe, it } from "@effect/vitest"
import { isUnpriceable } from "../../../src/programs/interface/Program.ts"
import { SOL, USDC } from "../../../src/domain/Address.ts"
import { castOf, fundCast } from "../../../src/simulator/traders/cast.ts"
import { makeLaunches, type Launched } from "../../../src/simulator/traders/Launches.ts"
import { makeRandom } from "../../../src/simulator/chain/Random.ts"
import { depthOf, sell } from "../../../src/simulator/chain/trade.ts"
import { makeWorld } from "../../../src/simulator/chain/World.ts"
import { decode, decoded, discrepancies, newBank, totalLamports } from "../chain/chains.ts"

const beginning = (seed: string) => {
  const bank = newBank(seed)
  const world = makeWorld(seed, bank)
  const { cast } = castOf(seed)
  const launches = makeLaunches({ world, random: makeRandom(seed), cast })
  bank.produce(() => {
    for (const [address, decimals] of [
      [SOL, 9],
      [USDC, 6]
    ] as const) {
      world.newMint({ address, decimals, authority: null, freezeAuthority: null, transferFee: null })
    }
    fundCast(world, cast)
    return []
  })
  return { bank, world, launches, whale: cast.whales[0] ?? cast.treasury }
}

const TEN_SOL = 10_000_000_000n

const total = (amounts: ReadonlyArray<bigint>) => amounts.reduce((sum, amount) => sum + amount, 0n)

describe.each(["pump-fun", "meteora", "launchlab"] as const)("a coin launched on %s", (kind) => {
  const { bank, world, launches, whale } = beginning(kind)
  const coin = (): Launched => launches.all().find((launched) => launched.kind === kind) ?? assert.fail("not launched")
  const lamports = totalLamports(bank)
  bank.produce(() => {
    const deeds = []
    while (!launches.all().some((launched) => launched.kind === kind)) {
      deeds.push(launches.launch())
    }
    return deeds
  })

  it("starts on a curve that the engine can price, and gets more expensive as it sells", () => {
    const { curve } = coin()
    const read = decode(bank, curve)
    const before = curve.price()
    const quoted = isUnpriceable(read) ? null : read.swap(false, TEN_SOL, bank.clock())
    assert.strictEqual(quoted === null, kind === "launchlab")
    bank.produce(() => {
      const bought = sell(world, whale, curve, SOL, TEN_SOL)
      assert.strictEqual(bought?.amountOut, quoted?.amountOut ?? bought?.amountOut)
      assert.strictEqual(world.holding(whale, curve.mintA), bought?.amountOut)
      return []
    })
    assert.isAbove(curve.price(), before)
    assert.deepStrictEqual(launches.graduate(), [])
  })

  it(`sells its last coins for ${kind === "pump-fun" ? "all" : "less"} of what was offered`, () => {
    const { curve } = coin()
    bank.produce(() => {
      for (let i = 0; i < 40 && !curve.complete(); i++) {
        const read = decode(bank, curve)
        const quoted = isUnpriceable(read) ? null : read.swap(false, TEN_SOL, bank.clock())
        const bought = sell(world, whale, curve, SOL, TEN_SOL)
        const whole = kind === "pump-fun" || !curve.complete()
        assert.isTrue(bought !== null && (whole ? bought.amountIn === TEN_SOL : bought.amountIn < TEN_SOL))
        assert.strictEqual(bought?.amountOut, quoted?.amountOut ?? bought?.amountOut)
      }
      return []
    })
    assert.isTrue(curve.complete())
    const read = decode(bank, curve)
    assert.strictEqual(isUnpriceable(read) ? read.reason : "priced", "closed")
    if (kind === "launchlab") {
      const { graduation } = read
      assert.isTrue(graduation !== undefined && graduation.numerator === graduation.denominator)
    }
  })

  it("graduates to a pool at about the last price, with all the SOL that was paid in", () => {
    const { curve } = coin()
    const { tokens, lamports: raised } = curve.remains()
    // The last purchase of a pump.fun curve goes on at the price of the pool to come.
    const last = kind === "pump-fun" ? Number(raised.amount) / Number(tokens.amount) : curve.price()
    assert.isAtLeast(last, curve.price() * 0.999)
    // The swaps above belong to no transaction.
    bank.takeJournal()
    const { transactions } = bank.produce(() => launches.graduate())
    assert.isAbove(transactions.length, 0)
    for (const { fee, receipt } of transactions) {
      const [before, after] = [receipt.lamports.before, receipt.lamports.after].map(total)
      assert.strictEqual(before, (after ?? 0n) + fee)
    }
    const { pool } = coin()
    assert.isNotNull(pool)
    if (pool !== null) {
      const [a, b] = [depthOf(pool, curve.mintA), depthOf(pool, SOL)]
      assert.strictEqual(b, Number(raised.amount))
      assert.closeTo(b / a / last, 1, 0.001)
      assert.isAtMost(a, Number(tokens.amount) * 1.000001)
      assert.isTrue(decoded(bank, pool).swap(pool.mintA === SOL, TEN_SOL, bank.clock()).amountOut > 0n)
    }
    assert.isTrue(isUnpriceable(decode(bank, curve)))
    assert.deepStrictEqual(launches.graduate(), [])
  })

  it("neither creates nor loses money on the way", () => {
    assert.strictEqual(totalLamports(bank), lamports)
    assert.isTrue(Array.from(discrepancies(bank).values()).every((difference) => difference === 0n))
  })
})
