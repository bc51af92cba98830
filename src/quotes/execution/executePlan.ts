/** Executes the swaps of a route as one transaction. */
import type { Address } from "../../domain/Address.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Call } from "../../programs/transactions/Call.ts"
import { derive } from "./decodeFixture.ts"
import type { SwapOrder, SwapResult } from "./executeSwap.ts"
import type { Execution, Runtime } from "./programRuntime.ts"
import type { Site, Venue } from "./swapVenue.ts"
import { balanceIn, FEE_PAYER, TRADER, traderAccount, wallet } from "./traderAccounts.ts"

/** Lamports of the trader's wallet, for accounts that programs open. */
const WALLET = 1_000_000_000_000n

/** A swap of a plan. */
export interface PlanHop {
  readonly venue: Venue
  readonly site: Site
  readonly order: SwapOrder
}

interface BuiltHop {
  readonly call: Call
  readonly from: OnChainAccount
  readonly to: OnChainAccount
}

const build = ({ order, site, venue }: PlanHop): BuiltHop => {
  const sides = venue.sides(site)
  const [input, output] = order.aToB ? [sides?.mintA, sides?.mintB] : [sides?.mintB, sides?.mintA]
  const from = input && site.accounts(input)
  const to = output && site.accounts(output)
  if (!from || !to) {
    throw new Error(`a mint of pool ${site.pool.address} has not been read`)
  }
  const own = { from: traderAccount(derive, from, 0n), to: traderAccount(derive, to, 0n) }
  const built = venue.swap(site, { ...order, trader: TRADER, from: own.from.address, to: own.to.address })
  if (built === null || built.opens !== undefined) {
    throw new Error(
      built === null
        ? `${venue.program.dex} has no such swap`
        : `${venue.program.dex} moves lamports of the wallet, which is not simulated`
    )
  }
  return { call: { program: venue.program.programId, steps: [], units: 0, ...built }, ...own }
}

const balanceOf = (execution: Execution | null, address: Address, before: bigint): bigint => {
  const after = execution === null || "error" in execution ? undefined : execution.after(address)
  return after === undefined ? before : balanceIn(after.data)
}

const withBalance = (account: OnChainAccount, amount: bigint): OnChainAccount => {
  const data = account.data.slice()
  new DataView(data.buffer).setBigUint64(64, amount, true)
  return { ...account, data, lamports: account.lamports + amount }
}

/**
 * Executes the first swap alone, then the first two as one transaction, and so on to all of them. The difference between
 * two of these is what one swap took and paid. The trader has `amount` of the first input and nothing else. Ends with the
 * first error. Each result has the compute units of the transaction that ends with its swap.
 */
export const executePlan = (
  runtime: Runtime,
  hops: ReadonlyArray<PlanHop>,
  amount: bigint
): ReadonlyArray<SwapResult> => {
  const built = hops.map(build)
  const [first] = built
  const held = new Map(
    built.flatMap(({ from, to }) => [from, to].map((account) => [account.address, account] as const))
  )
  for (const account of held.values()) {
    runtime.setAccount(account.address === first?.from.address ? withBalance(account, amount) : account)
  }
  runtime.setAccount(wallet(TRADER, WALLET))
  const initial = (address: Address): bigint => (address === first?.from.address ? amount : 0n)
  const results: Array<SwapResult> = []
  let before: Execution | null = null
  for (const [index, { from, to }] of built.entries()) {
    const execution = runtime.simulate(
      FEE_PAYER,
      built.slice(0, index + 1).map(({ call }) => call)
    )
    if ("error" in execution) {
      results.push({ error: execution.error, units: execution.units })
      break
    }
    const at = (one: Execution | null, { address }: OnChainAccount) => balanceOf(one, address, initial(address))
    results.push({
      amountIn: balanceMoved(before, execution, from, at),
      amountOut: -balanceMoved(before, execution, to, at),
      units: execution.units
    })
    before = execution
  }
  return results
}

/** What left an account between two executions. An account that the earlier one does not name has its first balance. */
const balanceMoved = (
  before: Execution | null,
  after: Execution,
  account: OnChainAccount,
  at: (execution: Execution | null, account: OnChainAccount) => bigint
): bigint => at(before, account) - at(after, account)
