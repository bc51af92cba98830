/** Decodes the transactions of a Geyser while they arrive, and packs slots that are whole. */
import { Result } from "effect"
import type { SlotDecoder } from "../geyser/serveGeyser.ts"
import { blockOf, type DecodedTransaction, decodeTransaction } from "./decodeBlock.ts"
import { packBlock, type PackedBlock } from "./PackedTransactions.ts"
import type { BlockTransaction } from "./TradeBlock.ts"
import { readWireTransaction } from "./wireTransaction.ts"

/** The head of a slot comes last, and with it the time of its block. */
const atTime = (transaction: BlockTransaction, blockTime: number | null): BlockTransaction => ({
  ...transaction,
  legs: transaction.legs.map((leg) => ({ ...leg, blockTime })),
  nets: transaction.nets.map((net) => ({ ...net, blockTime })),
  transfers: transaction.transfers.map((transfer) => ({ ...transfer, blockTime }))
})

/** A transaction that is malformed is null. */
export const slotDecoder: SlotDecoder<{ readonly decoded: DecodedTransaction | null }, PackedBlock> = {
  decode: (slot, index, info) => {
    const read = readWireTransaction(info, { slot, blockTime: null, indexInBlock: index })
    return { decoded: Result.isFailure(read) ? null : decodeTransaction(read.success, index) }
  },
  pack: ({ head, transactions }) => {
    const block = blockOf(
      head,
      transactions.map(([, { decoded }]) => decoded)
    )
    const { blockTime } = head
    return packBlock({ ...block, transactions: Array.from(block.transactions, (each) => atTime(each, blockTime)) })
  }
}
