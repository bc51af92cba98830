/**
 * Orders that keepers fill. The tokens lie with the order's own account, a keeper takes them, swaps them and pays the
 * owner: none of what moves is the keeper's trade. Layouts: the IDLs of Jupiter's limit orders (both) and DCA.
 */
import { Address } from "../domain/Address.ts"
import { dataOf, type Instruction } from "./instructions.ts"
import { tagAt, tagOf } from "../programs/SwapDecoder.ts"

/** One filling of one order, from the instruction that took the tokens out to the one that paid. */
export interface Fill {
  readonly from: number
  readonly to: number
  /** The account that kept the tokens for the owner. */
  readonly custody: Address
  /** Whose order it is. Where the transaction does not say, the account that keeps the tokens. */
  readonly owner: Address
}

type Step =
  /** Takes tokens out of the order. */
  | { readonly kind: "begin" }
  /** Pays for them: places of the accounts; `owner` is null where the instruction does not name it. */
  | { readonly kind: "fill"; readonly custody: number; readonly owner: number | null }
  /** Hands what was bought to the owner. */
  | { readonly kind: "payout"; readonly custody: number; readonly owner: number }

const PRE_FLASH_FILL = tagOf("f02f99440dbee12a")
const FLASH_FILL = tagOf("fc681286a44e128c")

const orderPrograms: ReadonlyMap<Address, ReadonlyMap<bigint, Step>> = new Map([
  [
    Address.make("jupoNjAxXgZ4rjzxzPMP4oxduvQsQtZzyknqvzYNrNu"),
    new Map<bigint, Step>([
      [PRE_FLASH_FILL, { kind: "begin" }],
      [FLASH_FILL, { kind: "fill", custody: 0, owner: 2 }],
      [tagOf("e87a7319c78f88a2"), { kind: "fill", custody: 0, owner: 2 }]
    ])
  ],
  [
    Address.make("j1o2qRpjcyUwEvwtcfhEQefh773ZgjxcVRry7LDqg5X"),
    new Map<bigint, Step>([
      [PRE_FLASH_FILL, { kind: "begin" }],
      [FLASH_FILL, { kind: "fill", custody: 2, owner: 1 }]
    ])
  ],
  [
    Address.make("DCA265Vj8a9CEuX1eb1LWRnDT7uK6q1xMipnNyatn23M"),
    new Map<bigint, Step>([
      [tagOf("8fcd03bfa2d7f531"), { kind: "begin" }],
      [tagOf("7340e24e21d369a2"), { kind: "fill", custody: 1, owner: null }],
      [tagOf("a334c8e78c0345ba"), { kind: "payout", custody: 1, owner: 2 }]
    ])
  ]
])

const stepOf = (instruction: Instruction): Step | null => {
  const steps = orderPrograms.get(instruction.program)
  const data = steps === undefined ? null : dataOf(instruction)
  return data === null ? null : (steps?.get(tagAt(data, 0)) ?? null)
}

const fillOf = (instruction: Instruction, step: Step, from: number, to: number): Fill | null => {
  if (step.kind !== "fill") {
    return null
  }
  const custody = instruction.accounts[step.custody]
  const owner = step.owner === null ? custody : instruction.accounts[step.owner]
  return custody === undefined || owner === undefined ? null : { from, to, custody, owner }
}

/** Every order that the transaction fills, in order. */
export const fillsOf = (instructions: ReadonlyArray<Instruction>): ReadonlyArray<Fill> => {
  const fills: Array<Fill> = []
  const begun = new Map<Address, number>()
  for (const [at, instruction] of instructions.entries()) {
    const step = stepOf(instruction)
    if (step?.kind === "begin") {
      begun.set(instruction.program, at)
    } else if (step?.kind === "fill") {
      const fill = fillOf(instruction, step, begun.get(instruction.program) ?? at, at)
      if (fill !== null) {
        fills.push(fill)
      }
      begun.delete(instruction.program)
    } else if (step?.kind === "payout") {
      const last = fills.findLastIndex(({ custody }) => custody === instruction.accounts[step.custody])
      const fill = fills[last]
      const owner = instruction.accounts[step.owner]
      if (fill !== undefined && owner !== undefined) {
        fills[last] = { ...fill, owner, to: at }
      }
    }
  }
  return fills
}
