/**
 * Orders that keepers fill. The tokens lie with the order's own account, a keeper takes them, swaps them and pays the
 * owner: no part of it is the keeper's trade.
 */
import type { Address } from "../domain/Address.ts"
import { isOrderProgram, type OrderAction, orderActionOf } from "../programs/jupiter/orders.ts"
import { dataOf, type Instruction } from "./instructions.ts"

/** One filling of one order, from the instruction that took the tokens out to the one that paid. */
export interface Fill {
  readonly from: number
  readonly to: number
  /** The account that kept the tokens for the owner. */
  readonly custody: Address
  /** Owner of the order; the account that keeps the tokens where the transaction does not name the owner. */
  readonly owner: Address
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
  return custody === undefined || owner === undefined ? null : { from, to, custody, owner }
}

/** Every order that the transaction fills, in order. */
export const fillsOf = (instructions: ReadonlyArray<Instruction>): ReadonlyArray<Fill> => {
  const fills: Array<Fill> = []
  const begun = new Map<Address, number>()
  for (const [at, instruction] of instructions.entries()) {
    const action = actionOf(instruction)
    if (action?.kind === "begin") {
      begun.set(instruction.program, at)
    } else if (action?.kind === "fill") {
      const fill = fillOf(instruction, action, begun.get(instruction.program) ?? at, at)
      if (fill !== null) {
        fills.push(fill)
      }
      begun.delete(instruction.program)
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
