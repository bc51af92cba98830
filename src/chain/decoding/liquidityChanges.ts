/** Finds what providers added to pools and took from them. */
import type { LiquidityChange, LiquidityEventKind, LiquiditySide } from "../../api/schemas/LiquidityEvent.ts"
import type { Address } from "../../domain/Address.ts"
import type { LiquidityCall } from "../../programs/interface/SwapDecoder.ts"
import { swapDecoderOf } from "../../programs/registry.ts"
import { dataOf, type Instruction } from "./instructions.ts"
import { endOf, isSelfCall } from "./swapCalls.ts"
import type { TokenPayment } from "./tokenTransfers.ts"
import { transferFeeOf } from "./transferFees.ts"
import { mintOf, quantityOf, type Transaction } from "./transaction.ts"

const NONE: ReadonlyArray<LiquidityChange> = []

/** Most changes of one transaction. Further changes are left out. */
export const MOST_CHANGES = 1024

const callOf = (instruction: Instruction): LiquidityCall | null => {
  const decoder = isSelfCall(instruction) ? undefined : swapDecoderOf.get(instruction.program)
  const data = decoder?.liquidity === undefined ? null : dataOf(instruction)
  return data === null ? null : (decoder?.liquidity?.(data, instruction.accounts) ?? null)
}

/** The token transfers inside the instruction at this place, up to the next one of the same program. */
const paymentsIn = ({ instructions }: Transaction, at: number): ReadonlyArray<TokenPayment> => {
  const program = instructions[at]?.program
  const next = instructions.findIndex((each, place) => place > at && each.program === program && !isSelfCall(each))
  return instructions
    .slice(at + 1, endOf(instructions, at, next === -1 ? undefined : next))
    .flatMap(({ transfers }) => transfers.filter((transfer) => transfer.kind === "transfer"))
}

/** The units that went into a vault (after transfer fees) or came out of it; null when the mint is not shown. */
const sideOf = (
  transaction: Transaction,
  vault: Address,
  kind: LiquidityEventKind,
  payments: ReadonlyArray<TokenPayment>
): LiquiditySide | null => {
  const own = payments.filter(({ destination, source }) => (kind === "added" ? destination : source) === vault)
  const mint = transaction.tokenAccounts.get(vault)?.mint ?? own.flatMap((each) => mintOf(transaction, each) ?? [])[0]
  const units = own.reduce(
    (sum, each) => sum + each.amount - (kind === "added" ? transferFeeOf(transaction, each) : 0n),
    0n
  )
  return mint === undefined ? null : quantityOf(transaction, mint, units)
}

/** The owner of the other account of the first payment. A payment's authority is its owner unless it was delegated. */
const providerOf = (
  { tokenAccounts }: Transaction,
  { vaults }: LiquidityCall,
  kind: LiquidityEventKind,
  payments: ReadonlyArray<TokenPayment>
): Address | null => {
  for (const { authority, destination, source } of payments) {
    if (kind === "added" && vaults.includes(destination)) {
      return tokenAccounts.get(source)?.owner ?? authority
    }
    if (kind === "removed" && vaults.includes(source)) {
      return tokenAccounts.get(destination)?.owner ?? null
    }
  }
  return null
}

/**
 * The changes of every instruction, outer and inner, in the order in which they ran. An instruction that moves units both
 * ways, as when liquidity is rebalanced, is two changes. `index` is the position of the transaction in its block. A failed
 * transaction changed nothing.
 */
export const liquidityChangesOf = (transaction: Transaction, index: number): ReadonlyArray<LiquidityChange> => {
  if (transaction.error !== null) {
    return NONE
  }
  const changes: Array<LiquidityChange> = []
  for (const [at, instruction] of transaction.instructions.entries()) {
    const call = callOf(instruction)
    if (call === null) {
      continue
    }
    const payments = paymentsIn(transaction, at)
    for (const kind of ["removed", "added"] as const) {
      const sides = call.vaults.flatMap((vault) => sideOf(transaction, vault, kind, payments) ?? [])
      if (sides.some(({ amount }) => amount > 0n) && changes.length < MOST_CHANGES) {
        changes.push({
          signature: transaction.signature,
          index: index * MOST_CHANGES + changes.length,
          kind,
          pool: call.pool,
          dex: swapDecoderOf.get(instruction.program)?.dex ?? "",
          provider: providerOf(transaction, call, kind, payments),
          sides,
          opens: call.opens,
          includesFees: call.paysFees
        })
      }
    }
  }
  return changes.length === 0 ? NONE : changes
}
