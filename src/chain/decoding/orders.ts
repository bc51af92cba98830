/**
 * Orders that keepers fill. The tokens lie in the order's own account. A keeper takes them, swaps them and pays the
 * owner, so no part of it is the keeper's trade.
 */
import type { Address } from "../../domain/Address.ts"
import { isOrderProgram, type OrderAction, orderActionOf } from "../../programs/jupiter/orders.ts"
import { dataOf, type Instruction } from "./instructions.ts"
import { escrowFillsOf } from "./escrows.ts"
import type { Exchange } from "./exchanges.ts"
import type { Transaction } from "./transaction.ts"

/** One fill of one order, from the instruction that took the tokens out to the one that paid. */
export interface Fill {
  readonly from: number
  readonly to: number
  /** The account that kept the tokens for the owner. */
  readonly custody: Address
  /** Owner of the order. When the transaction does not name the owner, the account that keeps the tokens. */
  readonly owner: Address
  /** What the owner gave and got, when only balances show the order; null for orders of known programs. */
  readonly exchange: Exchange | null
}

const actionOf = (instruction: Instruction): OrderAction | null => {
  const data = isOrderProgram(instruction.program) ? dataOf(instruction) : null
  return data === null ? null : orderActionOf(instruction.program, data)
}

const fillOf = (instruction: Instruction, action: OrderAction, from: number, to: number): Fill | null => {
  if (action.kind !== "fill") {
    return null
  }
  const custody = instruction.accounts[action.custody]
  const owner = action.owner === null ? custody : instruction.accounts[action.owner]
  return custody === undefined || owner === undefined ? null : { from, to, custody, owner, exchange: null }
}

/** Fills of orders of known programs, in order. */
export const knownFills = (instructions: ReadonlyArray<Instruction>): ReadonlyArray<Fill> => {
  const fills: Array<Fill> = []
  const startedAt = new Map<Address, number>()
  for (const [at, instruction] of instructions.entries()) {
    const action = actionOf(instruction)
    if (action?.kind === "begin") {
      startedAt.set(instruction.program, at)
    } else if (action?.kind === "fill") {
      const fill = fillOf(instruction, action, startedAt.get(instruction.program) ?? at, at)
      if (fill !== null) {
        fills.push(fill)
      }
      startedAt.delete(instruction.program)
    } else if (action?.kind === "payout") {
      const last = fills.findLastIndex(({ custody }) => custody === instruction.accounts[action.custody])
      const fill = fills[last]
      const owner = instruction.accounts[action.owner]
      if (fill !== undefined && owner !== undefined) {
        fills[last] = { ...fill, owner, to: at }
      }
    }
  }
  return fills
}

/** Fills of orders of other programs, in order. */
const escrowFills = (transaction: Transaction): ReadonlyArray<Fill> =>
  escrowFillsOf(transaction).map(({ custody, fromOuter, gave, got, owner, toOuter }) => ({
    from: transaction.instructions.findIndex(({ outer }) => outer === fromOuter),
    to: transaction.instructions.findLastIndex(({ outer }) => outer === toOuter),
    custody,
    owner,
    exchange: { gave, got }
  }))

/** Every order that the transaction fills. Orders of other programs count only when no known program has one. */
export const fillsOf = (transaction: Transaction): ReadonlyArray<Fill> => {
  const known = knownFills(transaction.instructions)
  return known.length > 0 ? known : escrowFills(transaction)
}
