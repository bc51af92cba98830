/** Looking at a pool from the side of one of its mints, and trading with it. */
import { type Address, type Mint, SOL } from "../domain/Address.ts"
import type { Deed, RecordedSwap } from "./Ledger.ts"
import type { Payment, Settlement, SimPool } from "./SimPool.ts"
import type { World } from "./World.ts"

/** The pool's other mint. */
export const otherMint = (pool: SimPool, mint: Mint): Mint => (pool.mintA === mint ? pool.mintB : pool.mintA)

/** Atomic units of the other mint for one of this, before fees. */
export const priceOf = (pool: SimPool, mint: Mint): number => (pool.mintA === mint ? pool.price() : 1 / pool.price())

/** Units of this mint that a trader should think of as the pool's size. */
export const depthOf = (pool: SimPool, mint: Mint): number => (pool.mintA === mint ? pool.depth().a : pool.depth().b)

/** What selling this much of the mint would change; null when it cannot be done. */
export const planSale = (world: World, pool: SimPool, mint: Mint, amountIn: bigint): Settlement | null =>
  amountIn > 0n ? pool.plan(pool.mintA === mint, amountIn, world.bank.clock()) : null

const settle = (world: World, wallet: Address, { payments, writes }: Settlement): void => {
  const { bank } = world
  for (const { address, data } of writes) {
    bank.put({ ...bank.must(address), data })
  }
  const account = (end: Payment["from"], mint: Mint) => (end === "trader" ? world.purse(wallet, mint) : end)
  for (const { from, to, mint, amount } of payments) {
    world.pay(account(from, mint), account(to, mint), mint, amount)
  }
}

/** Sells exactly this much of the mint if the wallet has it and the pool takes it; null, with nothing changed, if not. */
export const sell = (
  world: World,
  wallet: Address,
  pool: SimPool,
  mint: Mint,
  amountIn: bigint
): RecordedSwap | null => {
  if (amountIn + reserveOf(mint) > world.holding(wallet, mint)) {
    return null
  }
  const plan = planSale(world, pool, mint, amountIn)
  if (plan === null) {
    return null
  }
  settle(world, wallet, plan)
  return {
    program: pool.programId,
    pool: pool.address,
    inputMint: mint,
    outputMint: otherMint(pool, mint),
    amountIn: plan.amountIn,
    amountOut: plan.amountOut
  }
}

// Enough for the fees of many transactions and the rent of many token accounts.
const SOL_RESERVE = 500_000_000n

/** What a wallet keeps back of a mint: SOL pays for everything else. */
export const reserveOf = (mint: Mint): bigint => (mint === SOL ? SOL_RESERVE : 0n)

/** Pays the validator for what the wallet did. */
export const charge = (
  world: World,
  wallet: Address,
  validator: Address,
  kind: Deed["kind"],
  swaps: ReadonlyArray<RecordedSwap> = []
): Deed => {
  const fee = 5_000n
  world.pay(wallet, validator, SOL, fee)
  return { kind, wallet, fee, swaps }
}
