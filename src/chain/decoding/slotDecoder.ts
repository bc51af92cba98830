/** Decodes the transactions of a Geyser while they arrive, and packs slots that are whole. */
import { Result } from "effect"
import type { SlotDecoder } from "../geyser/slotDecoding.ts"
import { decodeTransaction, type Findings, headOf } from "./decodeBlock.ts"
import { type PackedBlock, replyOf } from "./PackedTransactions.ts"
import { RowWriter } from "./rowWriter.ts"
import { readWireTransaction } from "./wireTransaction.ts"

/** A decoded transaction, whose trades and movements are packed. */
interface PackedRow {
  /** The number of its row; null when nothing moved. */
  readonly row: number | null
  readonly found: Findings
}

export const slotDecoder: SlotDecoder<PackedBlock> = {
  open: (slot) => {
    // The head of a slot comes last, and with it the time of its block.
    const writer = new RowWriter("block")
    const decoded = new Map<number, PackedRow | null>()
    return {
      decode: (index, info) => {
        const read = readWireTransaction(info, { slot, blockTime: null, indexInBlock: index })
        if (Result.isFailure(read)) {
          decoded.set(index, null)
          return
        }
        const { found, kept } = decodeTransaction(read.success, index)
        decoded.set(index, { row: kept === null ? null : writer.add(kept), found })
      },
      pack: ({ head, indexes }) => {
        const transactions = indexes.map((index) => {
          const transaction = decoded.get(index)
          if (transaction === undefined) {
            throw new Error(`transaction ${index} was not decoded`)
          }
          return transaction
        })
        return replyOf({
          head: headOf(
            head,
            transactions.map((transaction) => transaction?.found ?? null)
          ),
          packed: writer.block(
            transactions.flatMap((transaction) => transaction?.row ?? []),
            head.blockTime
          )
        })
      }
    }
  }
}
