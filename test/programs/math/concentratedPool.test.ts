import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { makeConcentratedPool } from "../../../src/programs/math/concentratedPool.ts"
import { type SwapPath, staticFee } from "../../../src/programs/math/swapPath.ts"
import { makePriceTable } from "../../../src/programs/math/priceTable.ts"
import { isUnpriceable, type Program } from "../../../src/programs/interface/Program.ts"
import { raydiumClmm } from "../../../src/programs/raydium/clmm.ts"
import { raydiumSqrtPriceAt } from "../../../src/programs/raydium/clmmTicks.ts"
import type { TransferFees } from "../../../src/programs/layout/tokenAccount.ts"
import { whirlpool } from "../../../src/programs/orca/whirlpool.ts"
import { whirlpoolGrid, whirlpoolSqrtPriceAt } from "../../../src/programs/orca/whirlpoolTicks.ts"
import { SOL, USDC } from "../../../src/domain/Address.ts"
import { MAX_U64 } from "../../../src/domain/Amount.ts"
import {
  clmmFrom,
  clock,
  derive,
  randomFrom,
  randomPlan,
  type SyntheticPool,
  whirlpoolFrom
} from "../syntheticPools.ts"

const swapPath = (down: boolean): SwapPath => ({
  grid: whirlpoolGrid,
  down,
  feeOnInput: true,
  sqrtPrice: whirlpoolSqrtPriceAt(0),
  tick: 0,
  liquidity: 10n ** 10n,
  ticks: [],
  edge: down ? -1000 : 1000,
  fee: staticFee(3000n),
  cuts: []
})

const paths = { down: swapPath(true), up: swapPath(false) }
const plain = { down: makePriceTable(paths.down), up: makePriceTable(paths.up) }

/** One percent of a transfer, at most 5000 units; two percent from epoch 701 on. */
const onePercent: TransferFees = {
  older: { epoch: 0n, maximum: 5000n, bps: 100n },
  newer: { epoch: 701n, maximum: 5000n, bps: 200n }
}

const pool = makeConcentratedPool(
  { address: SOL, dex: "test", mintA: SOL, mintB: USDC, slot: 1, refusesZeroOutput: true, paths: () => paths },
  { a: onePercent, b: null, slot: 9 }
)

describe("a pool of a mint with transfer fees", () => {
  it("swaps what arrives of the input", () => {
    const inner = plain.down.quote(99_000n)
    assert.deepStrictEqual(pool.swap(true, 100_000n, clock), { ...inner, amountIn: 100_000n })
  })

  it("pays what arrives of the output", () => {
    const inner = plain.up.quote(100_000n)
    const arrives = inner.amountOut - (inner.amountOut * 100n + 9999n) / 10_000n
    assert.deepStrictEqual(pool.swap(false, 100_000n, clock), { ...inner, amountOut: arrives })
  })

  it("charges the mint's fee of the epoch", () => {
    const later = { ...clock, epoch: 701 }
    assert.deepStrictEqual(pool.swap(true, 100_000n, later).amountOut, plain.down.quote(98_000n).amountOut)
  })

  it("states the input before the transfer fee when liquidity runs out", () => {
    const inner = plain.down.quote(MAX_U64)
    assert.strictEqual(inner.ending, "exhausted")
    // The fee is at its maximum of 5000 units.
    assert.deepStrictEqual(pool.swap(true, MAX_U64, clock), { ...inner, amountIn: inner.amountIn + 5000n })
  })

  it("sends enough for an exact output to arrive", () => {
    const bought = pool.swapExactOut?.(false, 50_000n, clock)
    assert.strictEqual(bought?.amountOut, 50_000n)
    assert.isTrue(pool.swap(false, bought?.amountIn ?? 0n, clock).amountOut >= 50_000n)
    const sold = pool.swapExactOut?.(true, 50_000n, clock)
    assert.isTrue(pool.swap(true, sold?.amountIn ?? 0n, clock).amountOut >= 50_000n)
    assert.isTrue(pool.swap(true, (sold?.amountIn ?? 0n) - 2n, clock).amountOut < 50_000n)
  })

  it("starts at the pool's rate less its own fee and the transfer fee", () => {
    const { denominator, numerator } = pool.marginalRate(true, clock)
    // A price of one, 0.3 % and 1 %.
    assert.strictEqual((numerator * 1_000_000n) / denominator, 987_030n)
  })

  it("is as new as its newest account", () => {
    assert.strictEqual(pool.slot, 9)
  })
})

const Seed = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 31 }))

/** Overwrites a few bytes of the pool, and sometimes of the accounts that it is priced from. */
const damaged = ({ accounts, pool }: SyntheticPool, seed: number): SyntheticPool => {
  const random = randomFrom(seed)
  const damage = (data: Uint8Array, chance: number) => {
    const copy = Uint8Array.from(data)
    for (let i = 0; random() < chance && i < 8; i++) {
      copy[8 + Math.floor(random() * (copy.length - 8))] = Math.floor(random() * 256)
    }
    return copy
  }
  return {
    pool: { ...pool, data: damage(pool.data, 0.8) },
    accounts: (address) => {
      const account = accounts(address)
      return account === null || account === undefined ? account : { ...account, data: damage(account.data, 0.6) }
    }
  }
}

const decoders: ReadonlyArray<readonly [Program, (seed: number) => SyntheticPool]> = [
  [whirlpool, (seed) => whirlpoolFrom(randomPlan(seed, whirlpoolSqrtPriceAt))],
  [raydiumClmm, (seed) => clmmFrom(randomPlan(seed, raydiumSqrtPriceAt))]
]

for (const [program, poolOf] of decoders) {
  describe(`a damaged ${program.dex} account`, () => {
    it.prop(
      "never throws and never pays a negative amount",
      [Seed],
      ([seed]) => {
        const { accounts, pool } = damaged(poolOf(seed), seed)
        const decoded = program.decode(pool, accounts, derive)
        assert.isArray(program.needs(pool, accounts, derive))
        if (isUnpriceable(decoded)) {
          return
        }
        for (const amount of [1n, 10n ** 6n, 10n ** 12n, MAX_U64]) {
          for (const aToB of [true, false]) {
            const { amountIn, amountOut } = decoded.swap(aToB, amount, clock)
            assert.isTrue(amountIn >= 0n && amountOut >= 0n && amountIn <= amount)
            assert.isTrue(decoded.marginalRate(aToB, clock).denominator > 0n)
            decoded.swapExactOut?.(aToB, amount, clock)
          }
        }
      },
      { arbitrary: { runs: 300 } }
    )
  })
}
