/** Prices and swaps in a pool, seen from one of its mints. */
import { readAddress } from "../../programs/layout/bytes.ts"
import { TOKEN_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import { SYSTEM_PROGRAM } from "./addresses.ts"
import type { Call } from "../../programs/transactions/Call.ts"
import type { RecordedSwap } from "./Ledger.ts"
import type { Payment, Settlement } from "./Settlement.ts"
import type { SimPool } from "./SimPool.ts"
import { sendLamports, transferChecked, transferUnchecked, type TokenTransfer } from "./standardCalls.ts"
import { swapCall } from "./SwapCall.ts"
import { decimalsOf, type Happening, isTokenAccount, type World } from "./World.ts"

/** Which kind of account a wallet wraps SOL in during a transaction. */
export type Wrapper = "seeded" | "associated"

/** An executed swap and its instruction. */
export interface Carried extends RecordedSwap {
  readonly dex: string
  readonly aToB: boolean
  readonly call: Call
  readonly wrapper: Wrapper
  /** Payments and creations of the swap, in order. */
  readonly trace: ReadonlyArray<Happening>
}

/** The pool's other mint. */
export const otherMint = (pool: SimPool, mint: Mint): Mint => (pool.mintA === mint ? pool.mintB : pool.mintA)

/** Atomic units of the other mint per unit of this mint, before fees. */
export const priceOf = (pool: SimPool, mint: Mint): number => (pool.mintA === mint ? pool.price() : 1 / pool.price())

/** Depth of the pool in units of this mint. */
export const depthOf = (pool: SimPool, mint: Mint): number => (pool.mintA === mint ? pool.depth().a : pool.depth().b)

/** Plans a sale of this much of the mint; null when the pool cannot execute it. */
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

/** The instruction for a payment; null when a program moves its own lamports, which takes no instruction. */
export const paymentCall = (
  world: World,
  { from, to, mint, amount }: Extract<Happening, { readonly kind: "paid" }>,
  wrapper: Wrapper,
  callOf: (transfer: TokenTransfer) => Call
): Call | null => {
  const source = world.bank.must(from)
  const [fromTokens, toTokens] = [isTokenAccount(source), isTokenAccount(world.bank.must(to))]
  if (!fromTokens && !toTokens) {
    return source.owner === SYSTEM_PROGRAM ? sendLamports(from, to, amount) : null
  }
  if (!fromTokens && source.owner !== SYSTEM_PROGRAM) {
    return null
  }
  return callOf({
    program: mint === SOL ? TOKEN_PROGRAM : world.bank.must(mint).owner,
    from: fromTokens ? from : world.wrapped(from, wrapper),
    to: toTokens ? to : world.wrapped(to, wrapper),
    mint,
    authority: fromTokens ? readAddress(source.data, 32) : from,
    amount,
    decimals: decimalsOf(world, mint)
  })
}

/** The least output that a trader accepts: 1% below the plan. */
const leastOf = (amountOut: bigint): bigint => (amountOut * 99n) / 100n

/** The pool program's call for this plan, built before anything moves. */
const swapCallOf = (
  world: World,
  wallet: Address,
  pool: SimPool,
  mint: Mint,
  settlement: Settlement,
  wrapper: Wrapper
) => {
  const account = (of: Mint) => (of === SOL ? world.wrapped(wallet, wrapper) : world.purseAddress(wallet, of))
  return pool.call({
    trader: wallet,
    aToB: pool.mintA === mint,
    from: account(mint),
    to: account(otherMint(pool, mint)),
    settlement,
    minimum: leastOf(settlement.amountOut),
    clock: world.bank.clock()
  })
}

const affordable = (world: World, wallet: Address, pool: SimPool, mint: Mint, amountIn: bigint): Settlement | null =>
  amountIn + reserveOf(mint) > world.holding(wallet, mint) ? null : planSale(world, pool, mint, amountIn)

/**
 * Sells exactly this much of the mint. Null, with nothing changed, when the wallet holds less or the pool refuses.
 */
export const sell = (
  world: World,
  wallet: Address,
  pool: SimPool,
  mint: Mint,
  amountIn: bigint,
  wrapper: Wrapper = "seeded"
): Carried | null => {
  const plan = affordable(world, wallet, pool, mint, amountIn)
  if (plan === null) {
    return null
  }
  const call = swapCallOf(world, wallet, pool, mint, plan, wrapper)
  world.takeTrace()
  settle(world, wallet, plan)
  const trace = world.takeTrace()
  const transfers = trace.flatMap((happening) => {
    const made =
      happening.kind === "paid"
        ? paymentCall(world, happening, wrapper, call.checked ? transferChecked : transferUnchecked)
        : null
    return made === null ? [] : [made]
  })
  return {
    program: pool.programId,
    pool: pool.address,
    inputMint: mint,
    outputMint: otherMint(pool, mint),
    amountIn: plan.amountIn,
    amountOut: plan.amountOut,
    dex: pool.dex,
    aToB: pool.mintA === mint,
    call: swapCall(pool.programId, call, transfers),
    wrapper,
    trace
  }
}

/**
 * The instruction of a swap that fails because of slippage, with nothing changed. Null when the wallet cannot afford
 * it.
 */
export const failingSwap = (
  world: World,
  wallet: Address,
  pool: SimPool,
  mint: Mint,
  amountIn: bigint
): { readonly call: Call; readonly wraps: bigint | null } | null => {
  const plan = affordable(world, wallet, pool, mint, amountIn)
  if (plan === null) {
    return null
  }
  const { logged: _, sent: __, ...call } = swapCallOf(world, wallet, pool, mint, plan, "seeded")
  const needsWrapper = plan.payments.some(
    ({ from, to, mint: paid }) =>
      paid === SOL && [from, to].some((end) => end !== "trader" && isTokenAccount(world.bank.must(end)))
  )
  return {
    call: swapCall(pool.programId, call, []),
    wraps: needsWrapper ? (mint === SOL ? plan.amountIn : 0n) : null
  }
}

// Enough for the fees of many transactions and the rent of many token accounts.
const SOL_RESERVE = 500_000_000n

/** How much of a mint a wallet must keep. SOL pays for fees and rent. */
export const reserveOf = (mint: Mint): bigint => (mint === SOL ? SOL_RESERVE : 0n)
