/** Transfers from wallet to wallet outside of any trade. */
import { type Address, SOL } from "../domain/Address.ts"
import type { Transfer } from "../domain/market/Trade.ts"
import { type DecodedTrades, occurrenceIn } from "./decode.ts"
import type { Instruction } from "./instructions.ts"
import type { TokenTransfer } from "./tokenTransfers.ts"
import { fillsOf, knownFills } from "./orders.ts"
import { decimalsOf, type Transaction } from "./transaction.ts"

/** Top-level instructions whose transfers belong to trades. */
const tradingOuters = (transaction: Transaction, { legs, nets }: DecodedTrades): ReadonlySet<number> => {
  const { instructions, keys, signers } = transaction
  const outers = new Set([...legs, ...nets].map(({ outer }) => outer))
  // The owner of a filled order signs nothing.
  const isSigned = nets.every(({ wallet }) => keys.lastIndexOf(wallet, signers - 1) !== -1)
  for (const { from, to } of isSigned ? knownFills(instructions) : fillsOf(transaction)) {
    for (let at = from; at <= to; at++) {
      outers.add(instructions[at]?.outer ?? 0)
    }
  }
  return outers
}

/** A token account's owner, or the account itself. */
const holderOf = ({ tokenAccounts }: Transaction, account: Address): Address | null => {
  const known = tokenAccounts.get(account)
  return known === undefined ? account : known.owner
}

const transferOf = (transaction: Transaction, moved: TokenTransfer, instruction: Instruction): Transfer | null => {
  const isPayment = moved.kind === "transfer" || (moved.kind === "lamports" && !moved.created)
  if (!isPayment) {
    return null
  }
  const { source, destination, amount } = moved
  const native = moved.kind === "lamports"
  const { tokenAccounts } = transaction
  const mint = native ? SOL : (moved.mint ?? tokenAccounts.get(source)?.mint ?? tokenAccounts.get(destination)?.mint)
  const from = holderOf(transaction, source)
  const to = holderOf(transaction, destination)
  if (mint === undefined || from === null || to === null || from === to || amount === 0n) {
    return null
  }
  const decimals = mint === SOL ? 9 : decimalsOf(transaction, mint)
  return { ...occurrenceIn(transaction)(instruction), from, to, mint, amount, decimals, native }
}

/**
 * Every transfer outside of the instructions that traded, in order, but those that are the fees of a trade. None between accounts of one wallet, and none that
 * pays for an account. Amounts are what left the sender.
 */
export const transfersOf = (transaction: Transaction, trades: DecodedTrades): ReadonlyArray<Transfer> => {
  if (transaction.error !== null) {
    return []
  }
  const trading = tradingOuters(transaction, trades)
  const fees = new Set(trades.nets.flatMap(({ fees }) => fees.map(({ outer, inner }) => `${outer} ${inner}`)))
  const transfers: Array<Transfer> = []
  for (const instruction of transaction.instructions) {
    const isTrades =
      trading.has(instruction.outer) || (fees.size > 0 && fees.has(`${instruction.outer} ${instruction.inner}`))
    for (const moved of isTrades ? [] : instruction.transfers) {
      const transfer = transferOf(transaction, moved, instruction)
      if (transfer !== null) {
        transfers.push(transfer)
      }
    }
  }
  return transfers
}
