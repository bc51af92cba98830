import { assert, describe, it } from "@effect/vitest"
import { amountOfA, amountOfB } from "../../../src/programs/math/concentrated.ts"
import { readAddress, readI32, readU128, readU16, readU64 } from "../../../src/programs/layout/bytes.ts"
import { decodeClmmArray } from "../../../src/programs/raydium/clmmLayout.ts"
import { raydiumSqrtPriceAt } from "../../../src/programs/raydium/clmmTicks.ts"
import { decodeWhirlpoolArray } from "../../../src/programs/orca/whirlpoolLayout.ts"
import { whirlpoolSqrtPriceAt } from "../../../src/programs/orca/whirlpoolTicks.ts"
import type { OnChainAccount } from "../../../src/domain/OnChainAccount.ts"
import type { Bank } from "../../../src/simulator/chain/Bank.ts"
import type { Market } from "../../../src/simulator/traders/Market.ts"
import type { SimPool } from "../../../src/simulator/chain/SimPool.ts"
import { balanceOf, rentExempt } from "../../../src/simulator/chain/tokens.ts"
import { newMarket } from "./chains.ts"

/** Reserves of a pool beyond the fees of protocol, fund and creator, and the least that the pool owes its providers. */
interface Sheet {
  readonly held: readonly [bigint, bigint]
  readonly owed: readonly [bigint, bigint]
}

const NOTHING = [0n, 0n] as const

const vault = (bank: Bank, pool: OnChainAccount, offset: number): bigint =>
  balanceOf(bank.must(readAddress(pool.data, offset)))

const counters = ({ data }: OnChainAccount, offsets: ReadonlyArray<number>): bigint =>
  offsets.reduce((sum, offset) => sum + readU64(data, offset), 0n)

/** Everything that positions could withdraw at the current price, walking the ticks upwards from the lowest. */
const claims = (
  ticks: ReadonlyArray<{ readonly index: number; readonly liquidityNet: bigint }>,
  sqrtPrice: bigint,
  sqrtPriceAt: (tick: number) => bigint
): readonly [bigint, bigint] => {
  const sorted = ticks.toSorted((a, b) => a.index - b.index)
  let [liquidity, a, b] = [0n, 0n, 0n]
  for (const [i, { index, liquidityNet }] of sorted.entries()) {
    liquidity += liquidityNet
    const next = sorted[i + 1]
    if (next !== undefined) {
      const [low, high] = [sqrtPriceAt(index), sqrtPriceAt(next.index)]
      const middle = sqrtPrice < low ? low : sqrtPrice > high ? high : sqrtPrice
      a += middle === high ? 0n : amountOfA(liquidity, middle, high, false)
      b += amountOfB(liquidity, low, middle, false)
    }
  }
  assert.strictEqual(liquidity, 0n)
  return [a, b]
}

const arraysOf = (bank: Bank, pool: OnChainAccount, poolOffset: number): ReadonlyArray<OnChainAccount> =>
  Array.from(bank.ownedBy(pool.owner)).filter(
    ({ address, data }) =>
      address !== pool.address && data.length > poolOffset + 32 && readAddress(data, poolOffset) === pool.address
  )

const clmm = (bank: Bank, pool: OnChainAccount): Sheet => {
  const spacing = readU16(pool.data, 235)
  const ticks = arraysOf(bank, pool, 8).flatMap(
    (array) => decodeClmmArray(array, readI32(array.data, 40), spacing) ?? []
  )
  return {
    held: [vault(bank, pool, 137) - counters(pool, [309, 1064]), vault(bank, pool, 169) - counters(pool, [317, 1072])],
    owed: claims(ticks, readU128(pool.data, 253), raydiumSqrtPriceAt)
  }
}

const whirlpool = (bank: Bank, pool: OnChainAccount): Sheet => {
  const spacing = readU16(pool.data, 41)
  const arrays = [...arraysOf(bank, pool, 9956), ...arraysOf(bank, pool, 12)]
  const ticks = arrays.flatMap((array) => decodeWhirlpoolArray(array, readI32(array.data, 8), spacing) ?? [])
  return {
    held: [vault(bank, pool, 133) - counters(pool, [85]), vault(bank, pool, 213) - counters(pool, [93])],
    owed: claims(ticks, readU128(pool.data, 65), whirlpoolSqrtPriceAt)
  }
}

const dlmm = (bank: Bank, pool: OnChainAccount): Sheet => {
  const owed: [bigint, bigint] = [0n, 0n]
  for (const { data } of arraysOf(bank, pool, 24)) {
    for (let bin = 0; bin < 70; bin++) {
      owed[0] += readU64(data, 56 + bin * 144)
      owed[1] += readU64(data, 56 + bin * 144 + 8)
    }
  }
  return {
    held: [vault(bank, pool, 152) - counters(pool, [216]), vault(bank, pool, 184) - counters(pool, [224])],
    owed
  }
}

const sheets: Readonly<Record<string, (bank: Bank, pool: OnChainAccount) => Sheet>> = {
  "raydium-amm-v4": (bank, pool) => ({
    held: [vault(bank, pool, 336) - counters(pool, [192]), vault(bank, pool, 368) - counters(pool, [200])],
    owed: NOTHING
  }),
  "raydium-cpmm": (bank, pool) => ({
    held: [
      vault(bank, pool, 72) - counters(pool, [341, 357, 397]),
      vault(bank, pool, 104) - counters(pool, [349, 365, 405])
    ],
    owed: NOTHING
  }),
  "raydium-clmm": clmm,
  "orca-whirlpool": whirlpool,
  pumpswap: (bank, pool) => ({ held: [vault(bank, pool, 139), vault(bank, pool, 171)], owed: NOTHING }),
  "pump-fun-curve": (_, pool) => ({
    held: [readU64(pool.data, 8), pool.lamports - rentExempt(pool.data.length)],
    owed: [readU64(pool.data, 24), readU64(pool.data, 32)]
  }),
  "meteora-dlmm": dlmm,
  "meteora-damm-v2": (bank, pool) => ({
    held: [vault(bank, pool, 232) - counters(pool, [392]), vault(bank, pool, 264) - counters(pool, [400])],
    owed: [readU64(pool.data, 680), readU64(pool.data, 688)]
  }),
  "meteora-dbc": (bank, pool) => ({
    held: [
      vault(bank, pool, 168) - counters(pool, [248, 264, 352]),
      vault(bank, pool, 200) - counters(pool, [256, 272, 360])
    ],
    owed: [readU64(pool.data, 232), readU64(pool.data, 240)]
  })
}

const sheetOf = (bank: Bank, { address, dex }: SimPool): Sheet => {
  const read = sheets[dex]
  return read === undefined ? assert.fail(`no sheet for ${dex}`) : read(bank, bank.must(address))
}

/** The reserves that a constant product prices with. */
const invariants: Readonly<Record<string, (bank: Bank, pool: SimPool) => bigint>> = {
  "raydium-amm-v4": (bank, pool) => sheetOf(bank, pool).held[0] * sheetOf(bank, pool).held[1],
  "raydium-cpmm": (bank, pool) => sheetOf(bank, pool).held[0] * sheetOf(bank, pool).held[1],
  pumpswap: (bank, pool) => sheetOf(bank, pool).held[0] * sheetOf(bank, pool).held[1],
  "pump-fun-curve": (bank, { address }) => readU64(bank.must(address).data, 8) * readU64(bank.must(address).data, 16)
}

const total = (bank: Bank, market: Market, dex: string, offsets: ReadonlyArray<number>): bigint =>
  market
    .pools()
    .filter((pool) => pool.dex === dex)
    .reduce((sum, { address }) => sum + counters(bank.must(address), offsets), 0n)

describe("pools after thousands of swaps", () => {
  const { bank, market } = newMarket("solvency", 60)
  const least = new Map<string, bigint>()
  const remember = (): void => {
    for (const pool of market.pools().filter(({ open }) => open())) {
      const product = invariants[pool.dex]?.(bank, pool)
      if (product !== undefined) {
        assert.isTrue(product >= (least.get(pool.address) ?? 0n), `${pool.dex} ${pool.address} lost value`)
        least.set(pool.address, product)
      }
    }
  }

  it("keep or increase their product with every swap", () => {
    for (let swaps = 0; swaps < 4_000;) {
      swaps += market.advance().transactions.reduce((sum, transaction) => sum + transaction.swaps.length, 0)
      remember()
    }
    assert.isAbove(least.size, 10)
  })

  it("hold the reserves that their state accounts state", () => {
    for (const pool of market.pools().filter(({ open }) => open())) {
      const { held, owed } = sheetOf(bank, pool)
      assert.isTrue(held[0] >= owed[0] && held[1] >= owed[1], `${pool.dex} ${pool.address} ${held} owes ${owed}`)
      assert.isTrue(held[0] > 0n)
    }
  })

  it("account for the fees they owe to others", () => {
    assert.isTrue(total(bank, market, "raydium-cpmm", [341, 349]) > 0n)
    assert.isTrue(total(bank, market, "raydium-cpmm", [397, 405]) > 0n)
    assert.isTrue(total(bank, market, "raydium-clmm", [1064, 1072]) > 0n)
    assert.isTrue(total(bank, market, "orca-whirlpool", [85, 93]) > 0n)
    assert.isTrue(total(bank, market, "meteora-dlmm", [216, 224]) > 0n)
    assert.isTrue(total(bank, market, "meteora-damm-v2", [392, 400]) > 0n)
    assert.isTrue(total(bank, market, "meteora-dbc", [256, 272]) > 0n)
  })
})
