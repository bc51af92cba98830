/** Fees of front ends and tips, which are kept apart from transfers. */
import { type Address, SOL } from "../../domain/Address.ts"
import type { NetTrade, Quantity, TradeFee } from "../../api/schemas/Trade.ts"
import { aggregatorOf, tipAccounts } from "../../programs/aggregators.ts"
import type { Instruction } from "./instructions.ts"
import { mintOf, quantityOf, type Transaction } from "./transaction.ts"
import type { TokenTransfer } from "./tokenTransfers.ts"
import { programAt } from "./exchanges.ts"

/** A payment counts as a fee when it is at most this part of a side of the trade: a twentieth. */
const GREATEST_PART = 20n

interface Payment extends Quantity {
  readonly from: Address
  readonly to: Address
}

/** The payment of a transfer between two owners; null for anything else, such as rent and wrapping. */
const paymentOf = (transaction: Transaction, moved: TokenTransfer): Payment | null => {
  if ((moved.kind !== "transfer" && moved.kind !== "lamports") || (moved.kind === "lamports" && moved.created)) {
    return null
  }
  const { tokenAccounts } = transaction
  const { source, destination, amount } = moved
  const to = tokenAccounts.get(destination)
  const from = tokenAccounts.get(source)
  const mint = moved.kind === "lamports" ? SOL : mintOf(transaction, moved)
  // Lamports sent to a token account are its rent.
  if (mint === undefined || (moved.kind === "lamports" && to !== undefined && to.mint !== SOL)) {
    return null
  }
  const payer = from?.owner ?? (moved.kind === "lamports" ? source : null)
  const payee = to === undefined ? destination : to.owner
  return payer === null || payee === null || payer === payee || amount === 0n
    ? null
    : { from: payer, to: payee, ...quantityOf(transaction, mint, amount) }
}

const isFeeOf = (net: NetTrade, { from, mint, amount }: Payment): boolean => {
  const side = net.token.mint === mint ? net.token : net.quote.mint === mint ? net.quote : null
  return from === net.wallet && side !== null && amount * GREATEST_PART <= side.amount
}

const feeOf = (
  kind: TradeFee["kind"],
  payment: Payment,
  { outer, inner }: Instruction,
  included: boolean
): TradeFee => ({
  kind,
  recipient: payment.to,
  mint: payment.mint,
  amount: payment.amount,
  decimals: payment.decimals,
  included,
  outer,
  inner
})

/** True when the router itself made the payment inside the trade's instruction, and not one of its pools. */
const isRouters = (transaction: Transaction, { outer, height }: Instruction): boolean => {
  const program = height === 2 ? programAt(transaction, outer) : null
  return program !== null && aggregatorOf.has(program)
}

/**
 * Adds fees to the net trades. A payment of the wallet in a mint of the trade, worth at most a twentieth of that side,
 * is the front end's fee. Lamports sent to a known account of a block builder are a tip. Inside the instructions of a
 * trade only payments of the router itself count as fees.
 */
export const withFees = (transaction: Transaction, nets: ReadonlyArray<NetTrade>): ReadonlyArray<NetTrade> => {
  if (nets.length === 0) {
    return nets
  }
  const fees = nets.map((): Array<TradeFee> => [])
  for (const instruction of transaction.instructions) {
    if (instruction.transfers.length === 0) {
      continue
    }
    const isTrading = nets.some(({ outer }) => outer === instruction.outer)
    const isCounted = !isTrading || isRouters(transaction, instruction)
    for (const moved of instruction.transfers) {
      const isPossible = isCounted || (moved.kind === "lamports" && tipAccounts.has(moved.destination))
      const payment = isPossible ? paymentOf(transaction, moved) : null
      if (payment === null) {
        continue
      }
      const isTip = tipAccounts.has(payment.to)
      const at = nets.findLastIndex(
        (net) =>
          (isTip ? payment.from === net.wallet : isFeeOf(net, payment)) &&
          (!isTrading || net.outer === instruction.outer)
      )
      // A trade's lamports are counted without the router's fees, its tokens with them.
      const included = isTrading && moved.kind === "transfer"
      fees[at]?.push(feeOf(isTip ? "tip" : "front-end", payment, instruction, included))
    }
  }
  return nets.map((net, i) => (fees[i]?.length === 0 ? net : { ...net, fees: fees[i] ?? net.fees }))
}
