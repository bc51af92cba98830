/** Executes a swap through recorded pools, one pool after the other, with the accounts that it changes. Pure. */
import { makeDeriveAddress } from "../chain/programAddress.ts"
import type { Address, Mint } from "../domain/Address.ts"
import type { ChainClock, OnChainAccount } from "../domain/OnChainAccount.ts"
import { type Accounts, isUnpriceable, type Pool, type Program } from "../programs/interface/Program.ts"
import { isFailure } from "../programs/layout/unpriceable.ts"
import { programs } from "../programs/registry.ts"

const derive = makeDeriveAddress()

/** Why a swap has no amount. The last three are what the program would say. */
export type StopCode =
  /** The recording does not have the pool, or not all of its accounts. */
  | "pool_not_recorded"
  /** The state of such a pool after a swap is not known. */
  | "venue_without_state"
  /** The pool changed in a way that cannot be carried over to the changed pool. */
  | "pool_diverged"
  /** A pool of the route does not trade the mint that comes to it. */
  | "wrong_mint"
  /** The replay ended before the slot of the swap. */
  | "replay_ended"
  | "program_refused"
  | "not_enough_liquidity"
  | "slippage_exceeded"

export class Stopped {
  readonly code: StopCode
  readonly detail: string

  constructor(code: StopCode, detail: string) {
    this.code = code
    this.detail = detail
  }

  /** True for what the program itself would refuse. */
  get isOfProgram(): boolean {
    return this.code === "program_refused" || this.code === "not_enough_liquidity" || this.code === "slippage_exceeded"
  }
}

/** A swap of one pool, in units that left the wallet and reached it. */
export interface HopFill {
  readonly pool: Address
  readonly dex: string
  readonly inputMint: Mint
  readonly outputMint: Mint
  readonly amountIn: bigint
  readonly amountOut: bigint
}

/** Accounts over other accounts. */
export class Overlay {
  readonly own = new Map<Address, OnChainAccount>()
  readonly #base: Accounts

  constructor(base: Accounts) {
    this.#base = base
  }

  readonly at: Accounts = (address) => this.own.get(address) ?? this.#base(address)

  put(accounts: Iterable<OnChainAccount>): void {
    for (const account of accounts) {
      this.own.set(account.address, account)
    }
  }
}

/** A pool with its program, decoded from these accounts. */
export interface ReadPool {
  readonly account: OnChainAccount
  readonly program: Program
  readonly pool: Pool
}

/** Reads a pool, or says why it has no price. */
export const readPool = (accounts: Accounts, address: Address): ReadPool | Stopped => {
  const account = accounts(address)
  if (account === undefined || account === null) {
    return new Stopped("pool_not_recorded", `The recording does not have pool ${address} at this slot.`)
  }
  const program = programs.find((each) => each.isPool(account))
  if (program?.after === undefined) {
    const of = program === undefined ? "of a program that is not priced" : `of ${program.dex}`
    return new Stopped("venue_without_state", `Pool ${address} is ${of}: its state after a swap is not known.`)
  }
  const pool = program.decode(account, accounts, derive)
  if (!isUnpriceable(pool)) {
    return { account, program, pool }
  }
  const detail = `Pool ${address} (${program.dex}): ${pool.detail}.`
  switch (pool.reason) {
    case "incomplete":
      return new Stopped("pool_not_recorded", detail)
    case "closed":
      return new Stopped("program_refused", detail)
    default:
      return new Stopped("venue_without_state", detail)
  }
}

/** The accounts that a swap of the pool reads, as far as they are known. */
export const accountsOfPool = (accounts: Accounts, address: Address): ReadonlyArray<OnChainAccount> => {
  const account = accounts(address)
  if (account === undefined || account === null) {
    return []
  }
  const needed = programs.find((each) => each.isPool(account))?.needs(account, accounts, derive) ?? []
  return [account, ...needed.flatMap((each) => accounts(each) ?? [])]
}

/** Swaps in one pool and puts the accounts after it into the overlay. */
export const swapIn = (
  overlay: Overlay,
  address: Address,
  input: { readonly mint: Mint; readonly amount: bigint },
  clock: ChainClock
): HopFill | Stopped => {
  const read = readPool(overlay.at, address)
  if (read instanceof Stopped) {
    return read
  }
  const { account, pool, program } = read
  const { amount: amountIn, mint: inputMint } = input
  if (inputMint !== pool.mintA && inputMint !== pool.mintB) {
    return new Stopped("wrong_mint", `Pool ${address} trades ${pool.mintA} and ${pool.mintB}, not ${inputMint}.`)
  }
  const aToB = inputMint === pool.mintA
  const { amountOut, ending } = pool.swap(aToB, amountIn, clock)
  if (ending === "exhausted") {
    return new Stopped("not_enough_liquidity", `Pool ${address} (${program.dex}) does not take ${amountIn} whole.`)
  }
  if (ending === "refused" || amountOut === 0n) {
    return new Stopped("program_refused", `${program.dex} refuses a swap of ${amountIn} in pool ${address}.`)
  }
  const changed = program.after?.(account, overlay.at, derive, { aToB, amountIn, amountOut }, clock)
  if (changed === undefined || isFailure(changed)) {
    const detail = changed === undefined ? "it is not known" : changed.detail
    return new Stopped("venue_without_state", `Pool ${address} (${program.dex}) after a swap: ${detail}.`)
  }
  overlay.put(changed)
  return { pool: address, dex: pool.dex, inputMint, outputMint: aToB ? pool.mintB : pool.mintA, amountIn, amountOut }
}

/** What is swapped, and through which pools. */
export interface Hops {
  readonly inputMint: Mint
  readonly outputMint: Mint
  readonly amount: bigint
  readonly pools: ReadonlyArray<Address>
}

/** Swaps through all pools in a row, each on an overlay of its own. It then has the accounts of the pool afterwards. */
export const executeHops = (
  overlayOf: (pool: Address) => Overlay,
  { amount, inputMint, outputMint, pools }: Hops,
  clock: ChainClock
): ReadonlyArray<HopFill> | Stopped => {
  const hops: Array<HopFill> = []
  let input = { mint: inputMint, amount }
  for (const pool of pools) {
    const hop = swapIn(overlayOf(pool), pool, input, clock)
    if (hop instanceof Stopped) {
      return hop
    }
    hops.push(hop)
    input = { mint: hop.outputMint, amount: hop.amountOut }
  }
  return input.mint === outputMint
    ? hops
    : new Stopped("wrong_mint", `The pools lead to ${input.mint}, not to ${outputMint}.`)
}

const isSameRate = (a: Pool, b: Pool, aToB: boolean, clock: ChainClock): boolean => {
  const [one, other] = [a.marginalRate(aToB, clock), b.marginalRate(aToB, clock)]
  return one.numerator * other.denominator === other.numerator * one.denominator
}

const isSameSwap = (a: Pool, b: Pool, aToB: boolean, clock: ChainClock): boolean => {
  const amount = (a.reserves?.[aToB ? 0 : 1] ?? 0n) / 1000n + 1n
  return a.swap(aToB, amount, clock).amountOut === b.swap(aToB, amount, clock).amountOut
}

/** True when two states of a pool have the same reserves and prices, and pay the same for a thousandth of the reserves. */
export const isSameState = (a: Pool, b: Pool, clock: ChainClock): boolean =>
  a.reserves?.[0] === b.reserves?.[0] &&
  a.reserves?.[1] === b.reserves?.[1] &&
  [true, false].every((aToB) => isSameRate(a, b, aToB, clock) && isSameSwap(a, b, aToB, clock))
