/** Learns from two real swaps of a program how to build a third one. */
import type { Transaction } from "../../chain/decoding/transaction.ts"
import { dataOf, SYSTEM_PROGRAM } from "../../chain/decoding/instructions.ts"
import type { Address, Mint } from "../../domain/Address.ts"
import { ASSOCIATED_TOKEN_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import { readU64, writeU64 } from "../../programs/layout/bytes.ts"
import type { LearnedDirection, LearnedPool, SwapSlot } from "../pools/LearnedPools.ts"

/** A real swap: one instruction of the program in a transaction that moved two of the trader's tokens. */
export interface SeenSwap {
  readonly slot: number
  readonly blockTime: number | null
  readonly programId: Address
  readonly accounts: ReadonlyArray<Address>
  readonly data: Uint8Array
  readonly trader: Address
  readonly from: Address
  readonly to: Address
  readonly mintIn: Mint
  readonly mintOut: Mint
  readonly vaultIn: Address
  readonly vaultOut: Address
  readonly amountIn: bigint
  readonly amountOut: bigint
  readonly calls: ReadonlyArray<Address>
}

/** Programs and accounts that every runtime has. */
const PLAIN: ReadonlySet<Address> = new Set([
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
  TOKEN_2022_PROGRAM,
  ASSOCIATED_TOKEN_PROGRAM
])
const isBuiltIn = (address: Address): boolean => PLAIN.has(address) || address.startsWith("Sysvar")

/**
 * Reads a swap of the program; null when the transaction failed, has several instructions of the program, or moved
 * other than two tokens of a signer.
 */
export const seenSwap = (transaction: Transaction, programId: Address): SeenSwap | null => {
  const { blockTime, error, instructions, keys, signers, slot, tokenAccounts } = transaction
  const own = instructions.filter(({ program }) => program === programId)
  const [instruction] = own
  const data = instruction === undefined ? null : dataOf(instruction)
  if (error !== null || own.length !== 1 || instruction === undefined || data === null || instruction.inner !== null) {
    return null
  }
  const moved = [...tokenAccounts.values()].filter(
    ({ address, after, before }) => after !== before && instruction.accounts.includes(address)
  )
  const trader = keys.slice(0, signers).find((key) => moved.some(({ owner }) => owner === key))
  const ofTrader = moved.filter(({ owner }) => owner === trader)
  const ofPool = moved.filter(({ owner }) => owner !== trader)
  const from = ofTrader.find(({ after, before }) => after < before)
  const to = ofTrader.find(({ after, before }) => after > before)
  if (
    trader === undefined ||
    from === undefined ||
    to === undefined ||
    ofTrader.length !== 2 ||
    from.mint === to.mint
  ) {
    return null
  }
  const vaultIn = ofPool.find(({ after, before, mint }) => mint === from.mint && after > before)
  const vaultOut = ofPool.find(({ after, before, mint }) => mint === to.mint && after < before)
  if (vaultIn === undefined || vaultOut === undefined) {
    return null
  }
  const inner = instructions.filter((one) => one.outer === instruction.outer && one.inner !== null)
  return {
    slot,
    blockTime,
    programId,
    accounts: instruction.accounts,
    data,
    trader,
    from: from.address,
    to: to.address,
    mintIn: from.mint,
    mintOut: to.mint,
    vaultIn: vaultIn.address,
    vaultOut: vaultOut.address,
    amountIn: from.before - from.after,
    amountOut: to.after - to.before,
    calls: [...new Set(inner.map(({ program }) => program))].filter(
      (program) => !isBuiltIn(program) && program !== programId
    )
  }
}

const roleOf = ({ from, to, trader }: SeenSwap, address: Address | undefined): "from" | "to" | "trader" | null =>
  address === from ? "from" : address === to ? "to" : address === trader ? "trader" : null

const slotsOf = (a: SeenSwap, b: SeenSwap): ReadonlyArray<SwapSlot> | string => {
  const programs: ReadonlySet<Address> = new Set([a.programId, ...a.calls, ...b.calls])
  const slots: Array<SwapSlot> = []
  for (const [index, address] of a.accounts.entries()) {
    const role = roleOf(a, address)
    if (role !== roleOf(b, b.accounts[index])) {
      return `account ${index} is the trader's in one swap only`
    }
    if (role === null && address !== b.accounts[index]) {
      return `account ${index} changes from swap to swap`
    }
    slots.push(
      role === null ? { constant: address, isWritable: !isBuiltIn(address) && !programs.has(address) } : { role }
    )
  }
  return slots
}

/** Offsets at which both swaps have a value of eight bytes that this says is right. */
const offsetsOf = (
  a: SeenSwap,
  b: SeenSwap,
  isRight: (swap: SeenSwap, value: bigint) => boolean
): ReadonlyArray<number> =>
  Array.from({ length: Math.max(0, a.data.length - 7) }, (_, offset) => offset).filter((offset) =>
    [a, b].every((swap) => isRight(swap, readU64(swap.data, offset)))
  )

const differs = (a: Uint8Array, b: Uint8Array, known: ReadonlyArray<number>): boolean =>
  a.some((byte, index) => byte !== b[index] && !known.some((at) => index >= at && index < at + 8))

/** A swap's instruction, from two swaps of one pool in one direction with different amounts; or why it is not understood. */
export const learnDirection = (a: SeenSwap, b: SeenSwap): LearnedDirection | string => {
  if (a.accounts.length !== b.accounts.length || a.data.length !== b.data.length) {
    return "its swaps differ in length"
  }
  if (a.amountIn === b.amountIn) {
    return "its swaps have the same amount"
  }
  const slots = slotsOf(a, b)
  const [amountAt] = offsetsOf(a, b, ({ amountIn }, value) => value === amountIn)
  if (typeof slots === "string" || amountAt === undefined) {
    return typeof slots === "string" ? slots : "no place of its data holds the amount"
  }
  const minimumAt =
    offsetsOf(a, b, ({ amountOut }, value) => value > 0n && value <= amountOut && value * 2n >= amountOut).find(
      (offset) => Math.abs(offset - amountAt) >= 8
    ) ?? null
  const known = minimumAt === null ? [amountAt] : [amountAt, minimumAt]
  if (differs(a.data, b.data, known)) {
    return "its data has a part that changes and is not understood"
  }
  const data = a.data.slice()
  known.forEach((offset) => writeU64(data, offset, 0n))
  return { slots, data, amountAt, minimumAt }
}

/** The pool with this direction of its swaps. `pool` is the account that stands for it. */
export const learnedPool = (
  swap: SeenSwap,
  pool: Address,
  direction: LearnedDirection,
  before: LearnedPool | undefined
): LearnedPool => {
  const isAToB = before === undefined || before.mintA === swap.mintIn
  const base = before ?? {
    programId: swap.programId,
    pool,
    mintA: swap.mintIn,
    mintB: swap.mintOut,
    vaultA: swap.vaultIn,
    vaultB: swap.vaultOut,
    calls: swap.calls,
    aToB: null,
    bToA: null
  }
  return {
    ...base,
    calls: [...new Set([...base.calls, ...swap.calls])],
    ...(isAToB ? { aToB: direction } : { bToA: direction })
  }
}
