/** One interface for the pools of every program on the simulated market. */
import { isUnpriceable, type Pool, type Program } from "../../programs/interface/Program.ts"
import type { OnChainAccount, ChainClock } from "../../domain/OnChainAccount.ts"
import { type Address, addressToBytes, type Mint } from "../../domain/Address.ts"
import type { Call } from "../../programs/transactions/Call.ts"
import type { Payment, Settlement } from "./Settlement.ts"
import type { SwapCall, Swapping } from "./SwapCall.ts"
import { balanceOf, transferFeeOf, withheldOf } from "./tokens.ts"
import type { Happening, World } from "./World.ts"

/** One pool, as traders see it. */
export interface SimPool {
  readonly address: Address
  readonly dex: string
  readonly programId: Address
  readonly mintA: Mint
  readonly mintB: Mint
  /** False when the engine must refuse the pool. Wallets do not trade there. */
  readonly open: () => boolean
  /** What a swap would change right now; null when the program would refuse it or cannot take all of the input. */
  readonly plan: (aToB: boolean, amountIn: bigint, clock: ChainClock) => Settlement | null
  /** Instruction and events of a planned swap. */
  readonly call: (swap: Swapping) => SwapCall
  /**
   * Atomic units of B per unit of A, before fees. It may be a double, because only the plans of traders depend on it.
   */
  readonly price: () => number
  /** How large traders take the pool to be, in units of A and of B. */
  readonly depth: () => { readonly a: number; readonly b: number }
  /** Present when somebody's LP tokens are known. */
  readonly liquidity?: Liquidity
}

/** The liquidity that one provider has in a pool. */
export interface Liquidity {
  readonly provider: Address
  /** How many LP tokens the provider holds. */
  readonly held: () => bigint
  /** Adds liquidity for this many LP tokens, or removes it when negative. */
  readonly change: (lpTokens: bigint) => Executed
  /** The instruction that created the pool, from the trace of its creation. */
  readonly creation: (trace: ReadonlyArray<Happening>) => Executed
}

/** An executed instruction and what it did, in order. */
export interface Executed {
  readonly call: Call
  readonly trace: ReadonlyArray<Happening>
}

/** A mint of the market, with the names to show. */
export interface SimMint {
  readonly symbol: string
  readonly name: string
  readonly address: Mint
  readonly decimals: number
}

/** Initial reserves of a pool. `base` is the token, `quote` the mint it is priced in. */
export interface PoolSpec {
  /** Tells pools of the same program and pair apart. */
  readonly label: string
  readonly base: Mint
  readonly quote: Mint
  readonly baseAmount: bigint
  readonly quoteAmount: bigint
}

/**
 * The amount that arrives after the mint's transfer fee. It applies to deposits into the pool and to payouts alike.
 */
export const afterTransferFee = (world: World, mint: Mint, amount: bigint): bigint =>
  amount - withheldOf(transferFeeOf(world.bank.must(mint)), amount)

/** A mint and an amount. */
export type Side = readonly [Mint, bigint]

/** Sorts the two sides by the bytes of their mints, as most programs require. */
export const inOrder = ({ base, quote, baseAmount, quoteAmount }: PoolSpec): readonly [Side, Side] => {
  const sides: readonly [Side, Side] = [
    [base, baseAmount],
    [quote, quoteAmount]
  ]
  return Buffer.compare(addressToBytes(base), addressToBytes(quote)) < 0 ? sides : [sides[1], sides[0]]
}

/** One address per side of a pool, such as its vaults or its mints. */
export interface Pair {
  readonly a: Address
  readonly b: Address
}

/** A pool with the accounts that its swap instruction names. */
export interface CalledPool {
  readonly address: Address
  readonly mints: Pair
  readonly vaults: Pair
  /** Returns another account of the pool by its role. */
  readonly part: (part: string) => Address
}

/** Creates a pool's two vaults and fills them: from these accounts, or with new money when none are named. */
export const newVaults = (
  world: World,
  owner: Address,
  sides: { readonly a: Side; readonly b: Side },
  addressOf: (side: "a" | "b") => Address,
  depositors: Pair | null = null
): Pair => {
  const fill = (side: "a" | "b", [mint, amount]: Side): Address => {
    const address = addressOf(side)
    world.newTokenAccount(address, mint, owner)
    if (depositors === null) {
      world.issue(address, mint, amount)
    } else {
      world.pay(depositors[side], address, mint, amount)
    }
    return address
  }
  return { a: fill("a", sides.a), b: fill("b", sides.b) }
}

/** The two payments of a plain swap: the whole input into one vault, the output out of the other. */
export const exchange = (
  aToB: boolean,
  mints: { readonly a: Mint; readonly b: Mint },
  vaults: Pair,
  amounts: { readonly in: bigint; readonly out: bigint }
): ReadonlyArray<Payment> => {
  const [into, from] = aToB ? (["a", "b"] as const) : (["b", "a"] as const)
  return [
    { from: "trader", to: vaults[into], mint: mints[into], amount: amounts.in },
    { from: vaults[from], to: "trader", mint: mints[from], amount: amounts.out }
  ]
}

/** The balances of two vaults as doubles. */
export const vaultDepth = (world: World, vaults: Pair) => () => ({
  a: Number(balanceOf(world.bank.must(vaults.a))),
  b: Number(balanceOf(world.bank.must(vaults.b)))
})

/** The pool as the engine decodes it. It is cached until one of the pool's accounts changes. */
export const priced = (world: World, program: Program, watched: ReadonlyArray<Address>): (() => Pool | null) => {
  let seen: ReadonlyArray<OnChainAccount> = []
  let pool: Pool | null = null
  const accounts = (address: Address) => world.bank.get(address) ?? null
  return () => {
    const now = watched.map((address) => world.bank.must(address))
    if (now.every((account, index) => account === seen[index]) && seen.length > 0) {
      return pool
    }
    const [first] = now
    const decoded = first === undefined ? null : program.decode(first, accounts, world.derive)
    seen = now
    pool = decoded === null || isUnpriceable(decoded) ? null : decoded
    return pool
  }
}
