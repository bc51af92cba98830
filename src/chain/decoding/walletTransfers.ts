/** Finds transfers from wallet to wallet outside of trades. */
import { type Address, SOL } from "../../domain/Address.ts"
import type { Transfer } from "../../api/schemas/Trade.ts"
import { type DecodedTrades, occurrenceIn } from "./decodeTrades.ts"
import type { Instruction } from "./instructions.ts"
import type { TokenTransfer } from "./tokenTransfers.ts"
import { fillsOf, knownFills } from "./orders.ts"
import { isSigner, mintOf, quantityOf, type Transaction } from "./transaction.ts"

/** Top-level instructions whose transfers belong to trades. */
const tradingOuters = (transaction: Transaction, { legs, nets }: DecodedTrades): ReadonlySet<number> => {
  const { instructions } = transaction
  const outers = new Set([...legs, ...nets].map(({ outer }) => outer))
  // The owner of a filled order does not sign. When every trader signed, only orders of known programs can have been
  // filled.
  const isSigned = nets.every(({ wallet }) => isSigner(transaction, wallet))
  for (const { from, to } of isSigned ? knownFills(instructions) : fillsOf(transaction)) {
    for (let at = from; at <= to; at++) {
      outers.add(instructions[at]?.outer ?? 0)
    }
  }
  return outers
}

/** The owner of a token account; any other account itself. */
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
  const mint = moved.kind === "lamports" ? SOL : mintOf(transaction, moved)
  const from = holderOf(transaction, source)
  const to = holderOf(transaction, destination)
  if (mint === undefined || from === null || to === null || from === to || amount === 0n) {
    return null
  }
  return {
    ...occurrenceIn(transaction)(instruction),
    from,
    to,
    ...quantityOf(transaction, mint, amount),
    native: moved.kind === "lamports"
  }
}

/**
 * Every transfer outside the instructions that traded, in order, except the fees of trades. Leaves out transfers
 * between accounts of one wallet and payments for new accounts. Amounts are what left the sender.
 */
export const walletTransfersOf = (transaction: Transaction, trades: DecodedTrades): ReadonlyArray<Transfer> => {
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
