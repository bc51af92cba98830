import { assert, describe, it } from "@effect/vitest"
import { Address } from "../../src/domain/Address.ts"
import { inAccountOrder } from "../../src/programs/layout/hops.ts"
import { encodeWhirlpoolSwap, whirlpoolTraded, whirlpoolSwaps } from "../../src/programs/orca/whirlpoolInstructions.ts"
import {
  ammV4SwapAccounts,
  ammV4SwapV2Accounts,
  encodeAmmV4Swap,
  encodeAmmV4SwapLog,
  raydiumAmmV4Swaps
} from "../../src/programs/raydium/ammV4Instructions.ts"
import { encodeClmmSwap, clmmSwapEvent, raydiumClmmSwaps } from "../../src/programs/raydium/clmmInstructions.ts"
import { encodeCpmmSwap, cpmmSwapEvent, raydiumCpmmSwaps } from "../../src/programs/raydium/cpmmInstructions.ts"

const address = (name: string) => Address.make(`${name}${"1".repeat(43 - name.length)}`)
const accounts = Array.from("ABCDEFGHJKLMNPQRST", address)
const [pool = address("P"), sender = address("S")] = accounts
const amounts = { amountIn: 1_000n, minimumOut: 40n }

describe("swap instructions", () => {
  it.each([
    [raydiumAmmV4Swaps, encodeAmmV4Swap({ withMarket: true, ...amounts }), 1, [5, 6]],
    [raydiumAmmV4Swaps, encodeAmmV4Swap({ withMarket: false, ...amounts }), 1, [3, 4]],
    [raydiumCpmmSwaps, encodeCpmmSwap(1_000n, 40n), 3, [6, 7]],
    [raydiumClmmSwaps, encodeClmmSwap({ second: false, ...amounts }), 2, [5, 6]],
    [raydiumClmmSwaps, encodeClmmSwap({ second: true, ...amounts }), 2, [5, 6]],
    [whirlpoolSwaps, encodeWhirlpoolSwap({ second: false, aToB: true, ...amounts }), 2, [4, 6]],
    [whirlpoolSwaps, encodeWhirlpoolSwap({ second: true, aToB: false, ...amounts }), 4, [8, 10]]
  ] as const)("are decoded as encoded: case %#", (decoder, data, poolAt, vaultsAt) => {
    const [vaultA, vaultB] = vaultsAt
    assert.deepStrictEqual(
      decoder.hops(data, accounts).map(({ pool: found, vaults }) => [found, ...(vaults ?? [])]),
      [[accounts[poolAt], accounts[vaultA], accounts[vaultB]]]
    )
  })

  it("list their accounts by name in the program's order", () => {
    const byName = Object.fromEntries(ammV4SwapAccounts.map((name) => [name, name]))
    assert.deepStrictEqual(inAccountOrder<string, string | undefined>(ammV4SwapV2Accounts, byName), [
      ...ammV4SwapV2Accounts
    ])
  })
})

describe("swap events", () => {
  const report = { amountIn: 1_000n, amountOut: 50n, traderLamports: null }

  it("of AMM v4 are decoded as encoded", () => {
    const balances = { userSource: 7n, poolCoin: 8n, poolPc: 9n }
    const line = encodeAmmV4SwapLog(true, { ...amounts, ...balances, amountOut: 50n })
    const payload = Buffer.from(line.replace("ray_log: ", ""), "base64")
    assert.deepStrictEqual(raydiumAmmV4Swaps.logged?.(payload), report)
  })

  it("of CPMM are decoded as encoded, the input without its transfer fee", () => {
    const vaults = { inputVaultBefore: 8n, outputVaultBefore: 9n }
    const moved = { inputAmount: 1_000n, inputTransferFee: 10n, outputAmount: 50n, outputTransferFee: 1n }
    assert.deepStrictEqual(
      raydiumCpmmSwaps.logged?.(cpmmSwapEvent.encode({ pool, ...vaults, ...moved, baseInput: true })),
      report
    )
  })

  it.each([true, false])("of CLMM are decoded as encoded (zero for one: %s)", (zeroForOne) => {
    // The output excludes its transfer fee, which the pool also paid.
    const [amount0, amount1] = zeroForOne ? [1_000n, 46n] : [47n, 1_000n]
    const event = clmmSwapEvent.encode({
      pool,
      sender,
      tokenAccount0: sender,
      tokenAccount1: sender,
      amount0,
      transferFee0: 3n,
      amount1,
      transferFee1: 4n,
      zeroForOne,
      sqrtPrice: 1n << 64n,
      liquidity: 5n,
      tick: -6
    })
    assert.deepStrictEqual(raydiumClmmSwaps.logged?.(event), report)
  })

  it("of Whirlpool are decoded as encoded", () => {
    const prices = { sqrtPriceBefore: 2n, sqrtPriceAfter: 1n }
    const fees = { inputTransferFee: 3n, outputTransferFee: 4n, lpFee: 5n, protocolFee: 6n }
    const event = whirlpoolTraded.encode({
      pool,
      aToB: true,
      ...prices,
      inputAmount: 1_003n,
      outputAmount: 50n,
      ...fees
    })
    assert.deepStrictEqual(whirlpoolSwaps.logged?.(event), report)
  })
})
