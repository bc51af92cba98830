/**
 * Finds orders of any program that a keeper filled out of the program's escrow, by balances alone. The orders of
 * Jupiter's programs are found by their instructions (`orders.ts`).
 */
import { type Address, addressToBytes, type Mint, SOL } from "../../domain/Address.ts"
import { aggregatorOf, tipAccounts } from "../../programs/aggregators.ts"
import { isOrderProgram } from "../../programs/jupiter/orders.ts"
import { swapDecoderOf } from "../../programs/registry.ts"
import { isOnCurve } from "../programAddress.ts"
import { plainPrograms } from "./instructions.ts"
import type { TokenTransfer } from "./tokenTransfers.ts"
import { isSigner, mintOf, type Transaction } from "./transaction.ts"
import { transferFeeOf } from "./transferFees.ts"
import { type Exchange, isNft, programReason } from "./exchanges.ts"
import { unwrappedBy } from "./lamportFlows.ts"

/** A filled order, with the first and the last top-level instruction of the fill. */
export interface EscrowFill extends Exchange {
  readonly fromOuter: number
  readonly toOuter: number
  /** Owner of the tokens in escrow, which is an address of the program. */
  readonly custody: Address
  /** The wallet that was paid. */
  readonly owner: Address
}

/** Net units by owner and mint. Lamports count as SOL. */
type Flows = ReadonlyMap<Address, ReadonlyMap<Mint, bigint>>

/** One mint that an owner only gave, or only received. */
interface OneWay {
  readonly owner: Address
  readonly mint: Mint
  readonly amount: bigint
}

/** Others may keep at most this part of what the escrow gave or the owner got: a twentieth. */
const GREATEST_PART = 20n

/** The owner of a token account; any other account is its own holder. */
const holderOf = ({ tokenAccounts }: Transaction, account: Address): Address =>
  tokenAccounts.get(account)?.owner ?? account

const flowsIn = (transaction: Transaction, fromOuter: number, toOuter: number): Flows => {
  const { instructions, tokenAccounts } = transaction
  const flows = new Map<Address, Map<Mint, bigint>>()
  const add = (owner: Address, mint: Mint, amount: bigint) => {
    const own = flows.get(owner) ?? new Map<Mint, bigint>()
    own.set(mint, (own.get(mint) ?? 0n) + amount)
    flows.set(owner, own)
  }
  const move = (moved: TokenTransfer) => {
    if (moved.kind === "transfer") {
      const mint = mintOf(transaction, moved)
      if (mint !== undefined) {
        add(holderOf(transaction, moved.source), mint, -moved.amount)
        add(holderOf(transaction, moved.destination), mint, moved.amount - transferFeeOf(transaction, moved))
      }
    } else if (moved.kind === "lamports" && !moved.created && !tipAccounts.has(moved.destination)) {
      // Lamports sent to a token account are its rent.
      if ((tokenAccounts.get(moved.destination)?.mint ?? SOL) === SOL) {
        add(holderOf(transaction, moved.source), SOL, -moved.amount)
        add(holderOf(transaction, moved.destination), SOL, moved.amount)
      }
    } else if (moved.kind === "close") {
      const amount = unwrappedBy(transaction, moved)
      add(holderOf(transaction, moved.account), SOL, -amount)
      add(holderOf(transaction, moved.destination), SOL, amount)
    }
  }
  for (const { outer, transfers } of instructions) {
    if (fromOuter <= outer && outer <= toOuter) {
      transfers.forEach(move)
    }
  }
  return flows
}

/** One entry for each mint of every owner that only gave; with `sign` -1, of every owner that only received. */
const oneWays = (flows: Flows, sign: 1n | -1n): ReadonlyArray<OneWay> => {
  const found: Array<OneWay> = []
  for (const [owner, own] of flows) {
    const amounts = Array.from(own).filter(([, amount]) => amount !== 0n)
    if (amounts.every(([, amount]) => amount * sign < 0n)) {
      found.push(...amounts.map(([mint, amount]) => ({ owner, mint, amount: -sign * amount })))
    }
  }
  return found
}

const isWallet = (owner: Address): boolean => isOnCurve(addressToBytes(owner))

/** True when a call of the program itself names the owner: then the owner is part of the order. */
const isNamed = ({ instructions }: Transaction, program: Address, owner: Address, outer: number): boolean =>
  instructions.some((each) => each.outer === outer && each.program === program && each.accounts.includes(owner))

/** True when a program or a mint shows that the fill is not of an order. */
const isOther = (transaction: Transaction, { custody, fromOuter, gave, got, owner, toOuter }: EscrowFill): boolean => {
  if (isNft(transaction, gave[0]) || isNft(transaction, got[0])) {
    return true
  }
  for (let outer = fromOuter; outer <= toOuter; outer++) {
    const reason = programReason(transaction, owner, outer) ?? programReason(transaction, custody, outer)
    if (reason !== null) {
      return true
    }
  }
  return false
}

/** True for an amount that does not speak against an order: a fee, the keeper's dust, or lamports of neither side. */
const isBeside = (transaction: Transaction, each: OneWay, gave: OneWay, got: OneWay): boolean => {
  if (each.owner === got.owner) {
    return each.mint === got.mint || each.mint === gave.mint
  }
  return each.mint === gave.mint
    ? each.amount * GREATEST_PART <= gave.amount
    : each.mint === got.mint
      ? each.amount * GREATEST_PART <= got.amount
      : each.mint === SOL || isSigner(transaction, each.owner)
}

/** The order that was filled within these instructions; null when the balances show none, or several. */
const fillWithin = (
  transaction: Transaction,
  program: Address,
  gave: OneWay,
  flows: Flows,
  span: Pick<EscrowFill, "fromOuter" | "toOuter">
): EscrowFill | null => {
  const receivers = oneWays(flows, -1n)
  const [got, ...others] = receivers.filter(
    (each) =>
      each.mint !== gave.mint &&
      !isSigner(transaction, each.owner) &&
      receivers.every((other) => isBeside(transaction, other, gave, each))
  )
  if (got === undefined || others.length > 0) {
    return null
  }
  // Units that the escrow returned to its owner do not count as given.
  const given = gave.amount - (flows.get(got.owner)?.get(gave.mint) ?? 0n)
  const fill: EscrowFill = {
    ...span,
    custody: gave.owner,
    owner: got.owner,
    gave: [gave.mint, given],
    got: [got.mint, got.amount]
  }
  const isOrder =
    given > 0n && isNamed(transaction, program, got.owner, span.toOuter) && !isWallet(gave.owner) && isWallet(got.owner)
  return isOrder && !isOther(transaction, fill) ? fill : null
}

/** The only owner that gave a mint and received nothing, and did not sign; undefined when there is none, or several. */
const giverOf = (transaction: Transaction, flows: Flows): OneWay | undefined => {
  // Rent and fees that the keeper pays are not a side of an order.
  const givers = oneWays(flows, 1n).filter(({ mint, owner }) => mint !== SOL || !isSigner(transaction, owner))
  const [giver, ...others] = givers
  return giver === undefined || others.length > 0 || isSigner(transaction, giver.owner) ? undefined : giver
}

/** Top-level instructions in which something moved and whose program may keep orders, each with its program. */
const candidates = ({ instructions }: Transaction): ReadonlyMap<number, Address> => {
  const tops = new Map<number, Address>()
  let program: Address | null = null
  for (const { inner, outer, program: called, transfers } of instructions) {
    if (inner === null) {
      const isPlain = plainPrograms.has(called) || aggregatorOf.has(called) || swapDecoderOf.has(called)
      program = isPlain || isOrderProgram(called) ? null : called
    } else if (program !== null && transfers.length > 0) {
      tops.set(outer, program)
    }
  }
  return tops
}

/**
 * Orders that were filled within one top-level instruction, or between two of one program: a keeper may take the tokens
 * out with the first, swap them, and pay with the second.
 *
 * Of all owners whose tokens moved, exactly one address of the program only gave one mint. One wallet only received
 * another mint; it did not sign, and the program's call names it. Others keep at most a twentieth. An order of a wallet
 * that is itself an address of a program is not found.
 */
export const escrowFillsOf = (transaction: Transaction): ReadonlyArray<EscrowFill> => {
  const fills: Array<EscrowFill> = []
  const tops = Array.from(candidates(transaction))
  let filledOuter = -1
  for (const [at, [outer, program]] of tops.entries()) {
    const flows = outer <= filledOuter ? new Map() : flowsIn(transaction, outer, outer)
    if (giverOf(transaction, flows) === undefined) {
      continue
    }
    const ends = [outer, ...tops.slice(at + 1).flatMap(([end, other]) => (other === program ? [end] : []))]
    for (const toOuter of ends) {
      const spanned = toOuter === outer ? flows : flowsIn(transaction, outer, toOuter)
      const gave = giverOf(transaction, spanned)
      const fill =
        gave === undefined ? null : fillWithin(transaction, program, gave, spanned, { fromOuter: outer, toOuter })
      if (fill !== null) {
        fills.push(fill)
        filledOuter = toOuter
        break
      }
    }
  }
  return fills
}
