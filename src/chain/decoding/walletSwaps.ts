/** Finds the swaps of one wallet, from what moved in its accounts and from the pools of its route. */
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import { type TokenFlow, tokenFlowOf, isSwap } from "./tokenFlows.ts"
import type { PoolSwap } from "./poolSwaps.ts"
import type { Transaction } from "./transaction.ts"

/** A wallet, the top-level instructions in which it traded, and the indexes of its swaps. */
export interface TradingGroup {
  readonly wallet: Address
  readonly custody: Address | null
  readonly fromOuter: number
  readonly toOuter: number
  readonly legs: ReadonlyArray<number>
}

/** An amount of one mint for an amount of another. */
export interface Swap {
  readonly gave: readonly [Mint, bigint]
  readonly got: readonly [Mint, bigint]
  readonly legs: ReadonlyArray<number>
}

/** What the trader paid into a swap, including the transfer fee. Lamports include fees. */
const paidIn = ({ native, inputMint, amountIn, feeIn }: PoolSwap): bigint =>
  inputMint === SOL ? (native?.lamports ?? amountIn) : amountIn + feeIn

const paidOut = ({ native, outputMint, amountOut, feeOut }: PoolSwap): bigint =>
  outputMint === SOL ? (native?.lamports ?? amountOut) : amountOut - feeOut

const sumOf = (swaps: ReadonlyArray<PoolSwap>, amount: (swap: PoolSwap) => bigint): bigint =>
  swaps.reduce((sum, swap) => sum + amount(swap), 0n)

/** What the wallet's token accounts gained and lost, plus the lamports that its swaps moved without an instruction. */
const groupFlow = (transaction: Transaction, group: TradingGroup, own: ReadonlyArray<PoolSwap>): TokenFlow => {
  const flow = tokenFlowOf(transaction, { ...group, lamports: group.custody !== null })
  for (const swap of own) {
    if (swap.native !== null) {
      flow.set(SOL, (flow.get(SOL) ?? 0n) + (swap.inputMint === SOL ? -paidIn(swap) : paidOut(swap)))
    }
  }
  return flow
}

/** Chooses the mint of one side: the mint that the route begins or ends with, else the only mint; null for several. */
const chosen = (mints: ReadonlyArray<Mint>, preferred: Mint | undefined): Mint | null => {
  if (preferred !== undefined && mints.includes(preferred)) {
    return preferred
  }
  return mints.length === 1 ? (mints[0] ?? null) : null
}

/** True for a loop of pools that ended with at least what it began with. */
const isClosed = (flow: TokenFlow, own: ReadonlyArray<PoolSwap>): boolean => {
  const first = own[0]?.inputMint
  return own.length > 1 && first !== undefined && first === own.at(-1)?.outputMint && (flow.get(first) ?? 0n) >= 0n
}

/** The swap of one route; null when the flow is not a swap, as in an arbitrage that ends with what it began with. */
const routeSwap = (
  flow: TokenFlow,
  own: ReadonlyArray<PoolSwap>
): { readonly gave: readonly [Mint, bigint]; readonly got: readonly [Mint, bigint] } | null => {
  const first = own[0]?.inputMint
  const last = own.at(-1)?.outputMint
  if (isClosed(flow, own)) {
    return null
  }
  const amounts = Array.from(flow)
  const gave = chosen(
    amounts.flatMap(([mint, amount]) => (amount < 0n ? [mint] : [])),
    first
  )
  const got = chosen(
    amounts.flatMap(([mint, amount]) => (amount > 0n ? [mint] : [])),
    last
  )
  if (gave !== null && got !== null) {
    return { gave: [gave, -(flow.get(gave) ?? 0n)], got: [got, flow.get(got) ?? 0n] }
  }
  if (first === undefined || last === undefined || first === last || isSwap(flow)) {
    return null
  }
  // A router that wraps SOL into an account of its own hides one side. The pools show it.
  const ofFirst = own.filter(({ inputMint }) => inputMint === first)
  const ofLast = own.filter(({ outputMint }) => outputMint === last)
  if (got === last && gave === null && first === SOL) {
    return { gave: [first, sumOf(ofFirst, paidIn)], got: [got, flow.get(got) ?? 0n] }
  }
  return gave === first && got === null && last === SOL
    ? { gave: [gave, -(flow.get(gave) ?? 0n)], got: [last, sumOf(ofLast, paidOut)] }
    : null
}

/** Swaps by their pair of mints, in the order in which they began. */
const byPair = (own: ReadonlyArray<PoolSwap>): ReadonlyMap<string, ReadonlyArray<PoolSwap>> => {
  const pairs = new Map<string, ReadonlyArray<PoolSwap>>()
  for (const swap of own) {
    const key = `${swap.inputMint} ${swap.outputMint}`
    pairs.set(key, [...(pairs.get(key) ?? []), swap])
  }
  return pairs
}

/** True when the output mint of one swap is the input mint of another. */
const isChained = (own: ReadonlyArray<PoolSwap>): boolean => {
  const outputs = new Set(own.map(({ outputMint }) => outputMint))
  return own.some(({ inputMint }) => outputs.has(inputMint))
}

/**
 * Several purchases or sales side by side: one swap for each pair of mints. For a mint that only one pair has, the
 * amount is the wallet's flow. For a mint that pairs share, each pair has the sum over its own pools.
 */
const sideBySide = (
  flow: TokenFlow,
  group: TradingGroup,
  swaps: ReadonlyArray<PoolSwap>,
  pairs: ReadonlyMap<string, ReadonlyArray<PoolSwap>>
): ReadonlyArray<Swap> => {
  const groups = Array.from(pairs.values())
  const sharedBy = (mint: Mint) =>
    groups.filter(([swap]) => swap?.inputMint === mint || swap?.outputMint === mint).length
  return groups.flatMap((own) => {
    const [swap] = own
    if (swap === undefined) {
      return []
    }
    const { inputMint, outputMint } = swap
    const gave = sharedBy(inputMint) === 1 ? -(flow.get(inputMint) ?? 0n) : sumOf(own, paidIn)
    const got = sharedBy(outputMint) === 1 ? (flow.get(outputMint) ?? 0n) : sumOf(own, paidOut)
    const legs = group.legs.filter((leg) => own.some((each) => each === swaps[leg]))
    return gave > 0n && got > 0n ? [{ gave: [inputMint, gave], got: [outputMint, got], legs }] : []
  })
}

/** The swaps of the group. Empty when an unknown amount of lamports moved. */
export const walletSwapsOf = (
  transaction: Transaction,
  group: TradingGroup,
  swaps: ReadonlyArray<PoolSwap>
): ReadonlyArray<Swap> => {
  const own = group.legs.flatMap((leg) => swaps[leg] ?? [])
  if (own.some(({ native }) => native !== null && native.lamports === null)) {
    return []
  }
  const flow = groupFlow(transaction, group, own)
  const pairs = byPair(own)
  if (pairs.size > 1 && !isChained(own)) {
    return sideBySide(flow, group, swaps, pairs)
  }
  const swap = routeSwap(flow, own)
  return swap === null ? [] : [{ ...swap, legs: group.legs }]
}
