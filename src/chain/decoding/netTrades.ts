/** Net trades: what each wallet gave and got over all pools of its route. */
import type { Address, Mint } from "../../domain/Address.ts"
import { aggregatorOf } from "../../programs/aggregators.ts"
import { isOrderProgram } from "../../programs/jupiter/orders.ts"
import type { HeldSpan, Leg, NetTrade, Occurrence, TradeFee } from "../../api/schemas/Trade.ts"
import { plainPrograms } from "./instructions.ts"
import { exchangeOf, programAt } from "./exchanges.ts"
import { withFees } from "./tradeFees.ts"
import { priorityFeeOf } from "./priorityFee.ts"
import { type Swap, walletSwapsOf, type TradingGroup } from "./walletSwaps.ts"
import type { Fill } from "./orders.ts"
import type { PoolSwap } from "./poolSwaps.ts"
import { sidesOf } from "./sides.ts"
import { isMoney } from "../../domain/stables.ts"
import { quantityOf, type Transaction } from "./transaction.ts"

const NO_FEES: ReadonlyArray<TradeFee> = []

/**
 * Label of the aggregator that runs a top-level instruction; null for other programs. Instructions in which keepers
 * fill Jupiter's orders count as Jupiter.
 */
const routerAt = (transaction: Transaction, outer: number): string | null => {
  const program = programAt(transaction, outer)
  return program === null ? null : isOrderProgram(program) ? "jupiter" : (aggregatorOf.get(program) ?? null)
}

const outerOf = ({ instructions }: Transaction, at: number): number => instructions[at]?.outer ?? 0

/** The group of an order's owner, with its exchange when that is already known. */
interface FillGroup extends TradingGroup {
  readonly exchange: Fill["exchange"]
}

const fillGroups = (
  transaction: Transaction,
  swaps: ReadonlyArray<PoolSwap>,
  fills: ReadonlyArray<Fill>
): ReadonlyArray<FillGroup> =>
  fills.map(({ from, to, custody, exchange, owner }) => ({
    wallet: owner,
    custody,
    exchange,
    fromOuter: outerOf(transaction, from),
    toOuter: outerOf(transaction, to),
    legs: swaps.flatMap(({ at }, i) => (from <= at && at <= to ? [i] : []))
  }))

/**
 * The signers of the transaction that fills an order. A signer that pays with its own tokens makes the opposite trade.
 * A signer that swaps the order's tokens makes none.
 */
const fillersOf = ({ keys, signers }: Transaction, { exchange, ...group }: FillGroup): ReadonlyArray<TradingGroup> =>
  exchange === null ? [] : keys.slice(0, signers).map((wallet) => ({ ...group, wallet, custody: null, legs: [] }))

/** The group of a wallet in a top-level instruction. There are few groups, so they are searched one by one. */
const groupIn = <A extends TradingGroup>(groups: ReadonlyArray<A>, outer: number, wallet: Address): A | undefined =>
  groups.find((group) => group.toOuter === outer && group.wallet === wallet)

/** Groups the legs by top-level instruction and wallet. */
const legGroups = (legs: ReadonlyArray<Leg>, isFilled: (outer: number) => boolean): ReadonlyArray<TradingGroup> => {
  const groups: Array<TradingGroup & { readonly legs: Array<number> }> = []
  for (const { index, outer, wallet } of legs) {
    if (!isFilled(outer)) {
      const known = groupIn(groups, outer, wallet)
      if (known === undefined) {
        groups.push({ wallet, custody: null, fromOuter: outer, toOuter: outer, legs: [index] })
      } else {
        known.legs.push(index)
      }
    }
  }
  return groups
}

/** Top-level instructions, except plain transfers, in which tokens moved between accounts. */
const movingOuters = ({ instructions }: Transaction): ReadonlyArray<number> => {
  const outers: Array<number> = []
  let isPlain = false
  for (const { inner, outer, program, transfers } of instructions) {
    isPlain = inner === null ? plainPrograms.has(program) : isPlain
    const isNew = !isPlain && transfers.length > 0 && outers.at(-1) !== outer
    if (isNew && transfers.some(({ kind }) => kind === "transfer")) {
      outers.push(outer)
    }
  }
  return outers
}

/** One group for each signer of an instruction that moved tokens, unless the pools traded with its accounts. */
const signerGroups = (
  transaction: Transaction,
  legs: ReadonlyArray<Leg>,
  isKnown: (outer: number, wallet: Address) => boolean
): ReadonlyArray<TradingGroup> => {
  const signers = transaction.keys.slice(0, transaction.signers)
  const groups: Array<TradingGroup> = []
  for (const outer of movingOuters(transaction)) {
    for (const wallet of signers) {
      if (!isKnown(outer, wallet)) {
        const others = legs.filter((leg) => leg.outer === outer && !signers.includes(leg.wallet))
        const indexes = others.map(({ index }) => index)
        groups.push({ wallet, custody: null, fromOuter: outer, toOuter: outer, legs: indexes })
      }
    }
  }
  return groups
}

/**
 * The first leg of a swap that went through one pool; undefined when it went through several, or through pools that are
 * not decoded.
 */
const onlyLeg = (
  indexes: ReadonlyArray<number>,
  legs: ReadonlyArray<Leg>,
  { token, quote }: Pick<Leg, "token" | "quote">
): Leg | undefined => {
  const leg = legs[indexes[0] ?? -1]
  const isOne = indexes.every((index) => legs[index]?.pool === leg?.pool)
  return isOne && leg?.token.mint === token.mint && leg.quote.mint === quote.mint ? leg : undefined
}

/** What the wallet's accounts hold of the mint; null for SOL and dollars, and without such an account. */
const heldIn = ({ tokenAccounts }: Transaction, wallet: Address, mint: Mint): HeldSpan | null => {
  if (isMoney(mint)) {
    return null
  }
  const own = Array.from(tokenAccounts.values()).filter((account) => account.owner === wallet && account.mint === mint)
  return own.length === 0
    ? null
    : {
        before: own.reduce((sum, { before }) => sum + before, 0n),
        after: own.reduce((sum, { after }) => sum + after, 0n)
      }
}

/** What a signer exchanged, judged by its accounts, as a swap. */
const exchanged = (transaction: Transaction, group: TradingGroup): ReadonlyArray<Swap> => {
  const exchange = exchangeOf(transaction, group)
  return typeof exchange === "string" ? [] : [{ ...exchange, legs: group.legs }]
}

/** True when undecoded pools may belong to the route: the decoded ones form no loop, and all amounts are known. */
const isPartial = ({ legs }: TradingGroup, swaps: ReadonlyArray<PoolSwap>): boolean => {
  const own = legs.flatMap((leg) => swaps[leg] ?? [])
  const isUnknown = own.some(({ native }) => native !== null && native.lamports === null)
  return !isUnknown && own[0]?.inputMint !== own.at(-1)?.outputMint
}

/** What is left of a loop is dust: less than a hundredth of what was bought and sold. */
const DUST_PART = 100n

/**
 * True for one side of a loop whose other side is not known: the wallet bought and sold the token in this transaction, and
 * kept or gave up no more than dust. One side alone would count as a purchase. A loop with both sides known is two trades.
 */
const isHalfLoop = (
  legs: ReadonlyArray<Leg>,
  nets: ReadonlyArray<NetTrade>,
  { side, token, wallet }: NetTrade
): boolean => {
  const isOther = (net: NetTrade) => net.wallet === wallet && net.token.mint === token.mint && net.side !== side
  if (nets.some(isOther)) {
    return false
  }
  let [bought, sold] = [0n, 0n]
  for (const leg of legs) {
    if (leg.wallet === wallet && leg.token.mint === token.mint && !isMoney(token.mint)) {
      bought += leg.side === "buy" ? leg.token.amount : 0n
      sold += leg.side === "sell" ? leg.token.amount : 0n
    }
  }
  const [less, more] = bought < sold ? [bought, sold] : [sold, bought]
  return (more - less) * DUST_PART < less
}

/** The net trades of every wallet. Owners of filled orders come first. */
export const netTradesOf = (
  transaction: Transaction,
  swaps: ReadonlyArray<PoolSwap>,
  legs: ReadonlyArray<Leg>,
  fills: ReadonlyArray<Fill>,
  occurrence: (at: { readonly outer: number; readonly inner: number | null }) => Occurrence
): ReadonlyArray<NetTrade> => {
  const nets: Array<NetTrade> = []
  const priority = priorityFeeOf(transaction)
  const isPayer = (wallet: Address) => wallet === transaction.keys[0] && nets.every((net) => net.wallet !== wallet)
  const add = (group: TradingGroup, swap: Swap) => {
    const [gave, got] = [swap.gave, swap.got]
    const sides = sidesOf(quantityOf(transaction, gave[0], gave[1]), quantityOf(transaction, got[0], got[1]))
    const only = onlyLeg(swap.legs, legs, sides)
    nets.push({
      ...occurrence({ outer: group.toOuter, inner: null }),
      side: sides.side,
      token: sides.token,
      quote: sides.quote,
      index: nets.length,
      wallet: group.wallet,
      legs: swap.legs,
      pool: only?.pool ?? null,
      dex: only?.dex ?? routerAt(transaction, group.toOuter),
      held: {
        token: heldIn(transaction, group.wallet, sides.token.mint),
        quote: heldIn(transaction, group.wallet, sides.quote.mint)
      },
      fees: NO_FEES,
      priorityLamports: isPayer(group.wallet) ? priority : 0n
    })
  }
  const filled = fillGroups(transaction, swaps, fills)
  const isFilled = (outer: number) => filled.some(({ fromOuter, toOuter }) => fromOuter <= outer && outer <= toOuter)
  const byLegs = legGroups(legs, isFilled)
  for (const group of filled) {
    const { exchange, legs: own } = group
    const found = exchange === null ? walletSwapsOf(transaction, group, swaps) : [{ ...exchange, legs: own }]
    found.forEach((swap) => add(group, swap))
    for (const filler of fillersOf(transaction, group)) {
      exchanged(transaction, filler).forEach((swap) => add(filler, swap))
    }
  }
  for (const group of byLegs) {
    const byPools = walletSwapsOf(transaction, group, swaps)
    const found = byPools.length === 0 && isPartial(group, swaps) ? exchanged(transaction, group) : byPools
    found.forEach((swap) => add(group, swap))
  }
  const isKnown = (outer: number, wallet: Address) => isFilled(outer) || groupIn(byLegs, outer, wallet) !== undefined
  for (const group of signerGroups(transaction, legs, isKnown)) {
    exchanged(transaction, group).forEach((swap) => add(group, swap))
  }
  const kept = nets.filter((net) => !isHalfLoop(legs, nets, net))
  return withFees(transaction, kept.length === nets.length ? nets : kept.map((net, index) => ({ ...net, index })))
}
