/** Decodes the transactions of a Geyser while they arrive, and packs slots that are whole. */
import { Result } from "effect"
import type { SlotDecoder } from "../geyser/serveGeyser.ts"
import { decodeTransaction, type Findings, headOf } from "./decodeBlock.ts"
import { type PackedBlock, replyOf } from "./PackedTransactions.ts"
import { RowWriter } from "./rowWriter.ts"
import { readWireTransaction } from "./wireTransaction.ts"

/** A decoded transaction, whose trades and movements are packed. */
export interface PackedRow {
  /** The number of its row; null when nothing moved. */
  readonly row: number | null
  readonly found: Findings
}

/** A transaction that is malformed is null. */
export const slotDecoder: SlotDecoder<PackedRow | null, PackedBlock> = {
  open: (slot) => {
    // The head of a slot comes last, and with it the time of its block.
    const writer = new RowWriter("block")
    return {
      decode: (index, info) => {
        const read = readWireTransaction(info, { slot, blockTime: null, indexInBlock: index })
        if (Result.isFailure(read)) {
          return null
        }
        const { found, kept } = decodeTransaction(read.success, index)
        return { row: kept === null ? null : writer.add(kept), found }
      },
      pack: ({ head, transactions }) => {
        const rows: Array<number> = []
        for (const [, decoded] of transactions) {
          if (decoded !== null && decoded.row !== null) {
            rows.push(decoded.row)
          }
        }
        return replyOf({
          head: headOf(
            head,
            transactions.map(([, decoded]) => decoded?.found ?? null)
          ),
          packed: writer.block(rows, head.blockTime)
        })
      }
    }
  }
}
