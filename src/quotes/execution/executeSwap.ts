/** Executes one swap of one pool and reads from the trader's accounts what it took and paid. */
import { type Address, SOL } from "../../domain/Address.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Call } from "../../programs/transactions/Call.ts"
import { derive } from "./decodeFixture.ts"
import type { Execution, Runtime } from "./programRuntime.ts"
import type { Sides, Site, Venue } from "./swapVenue.ts"
import { balanceIn, FEE_PAYER, TRADER, traderAccount, wallet } from "./traderAccounts.ts"

/** What the trader holds of the input. Every amount stays below it. */
export const BALANCE = 2n ** 62n
/** Lamports of the trader's wallet while a swap moves tokens. */
const WALLET = 1_000_000_000_000n

/** A swap of one pool. */
export interface SwapOrder {
  readonly aToB: boolean
  readonly exactOut: boolean
  /** Units of the input, or of the output with `exactOut`. */
  readonly amount: bigint
}

/** What the program took and paid, or its error. */
export type SwapResult =
  | { readonly amountIn: bigint; readonly amountOut: bigint; readonly units: number }
  | { readonly error: string; readonly units: number }

/** A swap that was executed, with the accounts after it. */
export interface ExecutedSwap {
  readonly result: SwapResult
  readonly execution: Execution
}

const must = (site: Site, address: Address, what: string): OnChainAccount => {
  const account = site.accounts(address)
  if (!account) {
    throw new Error(`${what} ${address} of pool ${site.pool.address} is not there`)
  }
  return account
}

/** What the trader holds on one side: a token account, or the wallet where the program moves lamports. */
interface Purse {
  readonly address: Address
  readonly balance: (data: Uint8Array, lamports: bigint) => bigint
}

const tokens = ({ address }: OnChainAccount): Purse => ({ address, balance: balanceIn })
const lamports: Purse = { address: TRADER, balance: (_, amount) => amount }

/** A swap's instruction, with the trader's accounts and where each side is paid. */
interface BuiltSwap {
  readonly call: Call
  readonly accounts: ReadonlyArray<OnChainAccount>
  readonly purses: readonly [Purse, Purse]
  readonly before: readonly [bigint, bigint]
  /** Accounts that the program may create at the trader's expense. */
  readonly opens: ReadonlyArray<Address>
}

const build = (venue: Venue, site: Site, sides: Sides, order: SwapOrder): BuiltSwap | null => {
  const [input, output] = order.aToB ? [sides.mintA, sides.mintB] : [sides.mintB, sides.mintA]
  const from = traderAccount(derive, must(site, input, "mint"), BALANCE)
  const to = traderAccount(derive, must(site, output, "mint"), 0n)
  const built = venue.swap(site, { ...order, trader: TRADER, from: from.address, to: to.address })
  if (built === null) {
    return null
  }
  const { opens, ...instruction } = built
  const paysLamports = opens !== undefined && input === SOL
  const getsLamports = opens !== undefined && output === SOL
  const purse = paysLamports ? BALANCE : WALLET
  return {
    call: { program: venue.program.programId, steps: [], units: 0, ...instruction },
    accounts: [from, to, wallet(TRADER, purse)],
    purses: [paysLamports ? lamports : tokens(from), getsLamports ? lamports : tokens(to)],
    before: [BALANCE, getsLamports ? purse : 0n],
    opens: opens ?? []
  }
}

/** What left the first purse and what came into the second, without the lamports that opened accounts. */
const moved = (
  execution: Exclude<Execution, { readonly error: string }>,
  { before: [paid, got], opens, purses: [from, to] }: BuiltSwap
) => {
  const held = ({ address, balance }: Purse): bigint => {
    const account = execution.after(address)
    if (account === undefined) {
      throw new Error("the runtime did not return the trader's accounts")
    }
    return balance(account.data, account.lamports)
  }
  const opened = opens.reduce((sum, address) => sum + (execution.after(address)?.lamports ?? 0n), 0n)
  const own = (purse: Purse): bigint => held(purse) + (purse === lamports ? opened : 0n)
  return { amountIn: paid - own(from), amountOut: own(to) - got }
}

/**
 * Executes one swap on the accounts that the runtime holds. Null when the program has no instruction for the order.
 * Throws when an account that the instruction names is not there.
 */
export const executeSwap = (
  runtime: Runtime,
  venue: Venue,
  site: Site,
  sides: Sides,
  order: SwapOrder
): ExecutedSwap | null => {
  const built = build(venue, site, sides, order)
  if (built === null) {
    return null
  }
  built.accounts.forEach(runtime.setAccount)
  const execution = runtime.simulate(FEE_PAYER, [built.call])
  const { units } = execution
  return {
    execution,
    result: "error" in execution ? { error: execution.error, units } : { ...moved(execution, built), units }
  }
}

/** The wallet that pays the fees of executed swaps. */
export const feePayer = (): OnChainAccount => wallet(FEE_PAYER, BALANCE)
