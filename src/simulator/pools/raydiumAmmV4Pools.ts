/** Raydium AMM v4 pools of the simulated market. */
import { writeAddress, writeU64 } from "../../programs/layout/bytes.ts"
import { AMM_V4_AUTHORITY, AMM_V4_SIZE, ammV4Offsets, ammV4Status } from "../../programs/raydium/ammV4Layout.ts"
import { ammV4After, ammV4SwapFee, raydiumAmmV4 } from "../../programs/raydium/ammV4.ts"
import { Address } from "../../domain/Address.ts"
import { inventAddress } from "../chain/addresses.ts"
import { ammV4Call } from "./raydiumCalls.ts"
import { exchange, newVaults, type Pair, type PoolSpec, priced, type SimPool, vaultDepth } from "../chain/SimPool.ts"
import type { World } from "../chain/World.ts"

const OPEN_BOOK = Address.make("srmqPvymJeFKQ4zGQed1GFppgkRHL9kaELCbyksJtPX")

const at = ammV4Offsets

const newState = (world: World, spec: PoolSpec, vaults: Pair, open: boolean): Uint8Array => {
  const name = (part: string) => inventAddress(world.seed, `raydium-amm-v4 ${spec.label} ${part}`)
  const data = new Uint8Array(AMM_V4_SIZE)
  const numbers: ReadonlyArray<readonly [number, bigint]> = [
    [at.status, open ? ammV4Status.swapOnly : ammV4Status.withdrawOnly],
    [at.nonce, 254n],
    [at.orderNumber, 7n],
    [at.depth, 3n],
    [at.minSeparateNumerator, 5n],
    [at.minSeparateDenominator, 10_000n],
    [at.tradeFeeNumerator, 25n],
    [at.tradeFeeDenominator, 10_000n],
    [at.pnlNumerator, 12n],
    [at.pnlDenominator, 100n],
    [at.swapFeeNumerator, 25n],
    [at.swapFeeDenominator, 10_000n]
  ]
  numbers.forEach(([offset, value]) => writeU64(data, offset, value))
  writeAddress(data, at.coinVault, vaults.a)
  writeAddress(data, at.pcVault, vaults.b)
  writeAddress(data, at.coinMint, spec.base)
  writeAddress(data, at.pcMint, spec.quote)
  writeAddress(data, at.lpMint, name("lp mint"))
  writeAddress(data, at.openOrders, name("open orders"))
  writeAddress(data, at.market, name("market"))
  writeAddress(data, at.marketProgram, OPEN_BOOK)
  return data
}

/**
 * Creates a filled pool with the base as coin. It takes classic mints only. A pool that is not open only allows
 * withdrawals.
 */
export const newRaydiumAmmV4Pool = (world: World, spec: PoolSpec, open = true): SimPool => {
  const name = (part: string) => inventAddress(world.seed, `raydium-amm-v4 ${spec.label} ${part}`)
  const address = name("pool")
  const mints = { a: spec.base, b: spec.quote }
  const sides = { a: [spec.base, spec.baseAmount], b: [spec.quote, spec.quoteAmount] } as const
  const vaults = newVaults(world, AMM_V4_AUTHORITY, sides, (side) => name(`vault ${side}`))
  world.newAccount(address, raydiumAmmV4.programId, newState(world, spec, vaults, open))
  const current = priced(world, raydiumAmmV4, [address, vaults.a, vaults.b])
  const depth = vaultDepth(world, vaults)

  const plan: SimPool["plan"] = (aToB, amountIn, clock) => {
    const swap = current()?.swap(aToB, amountIn, clock)
    if (swap?.ending !== "filled") {
      return null
    }
    const data = ammV4After(world.bank.must(address).data, { aToB, amountIn, amountOut: swap.amountOut })
    return {
      amountIn,
      amountOut: swap.amountOut,
      fee: ammV4SwapFee(data, amountIn),
      payments: exchange(aToB, mints, vaults, { in: amountIn, out: swap.amountOut }),
      writes: [{ address, data }]
    }
  }

  return {
    address,
    dex: raydiumAmmV4.dex,
    programId: raydiumAmmV4.programId,
    mintA: spec.base,
    mintB: spec.quote,
    open: () => open,
    plan,
    call: ammV4Call(world, { address, mints, vaults, part: name }, OPEN_BOOK),
    price: () => depth().b / depth().a,
    depth
  }
}
