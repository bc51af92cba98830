/**
 * Packs the transactions of a block as bytes, the form in which they leave the thread that read them. Iterating makes
 * the objects of one transaction at a time and does not keep them, so a block of many megabytes is never on the heap as
 * a whole. Most of a block is transfers and balance changes, which are seldom read: their objects are made on first
 * access.
 */
import type { PackedReply } from "../blocks/blockMessages.ts"
import { type Movements, RowReader, type Trading } from "./rowReader.ts"
import { RowWriter } from "./rowWriter.ts"
import type { BlockTransaction, TradeBlock } from "./TradeBlock.ts"

/** Packs the transactions, in order. */
export const packTransactions = (transactions: Iterable<BlockTransaction>): Uint8Array<ArrayBuffer> => {
  const writer = new RowWriter("own")
  return writer.block(
    Array.from(transactions, (transaction) => writer.add(transaction)),
    null
  )
}

class PackedTransaction implements BlockTransaction {
  readonly signature: BlockTransaction["signature"]
  readonly index: number
  readonly legs: BlockTransaction["legs"]
  readonly moves: BlockTransaction["moves"]
  readonly nets: BlockTransaction["nets"]
  readonly unresolved: number
  readonly #reader: RowReader
  readonly #row: number
  #movements: Movements | null = null

  constructor({ index, legs, moves, nets, signature, unresolved }: Trading, reader: RowReader, row: number) {
    this.signature = signature
    this.index = index
    this.legs = legs
    this.moves = moves
    this.nets = nets
    this.unresolved = unresolved
    this.#reader = reader
    this.#row = row
  }

  get changes(): BlockTransaction["changes"] {
    return this.#moved().changes
  }

  get transfers(): BlockTransaction["transfers"] {
    return this.#moved().transfers
  }

  #moved(): Movements {
    return (this.#movements ??= this.#reader.movements(this.#row))
  }
}

/** Packed transactions. Each iteration makes the objects again. */
export class PackedTransactions implements Iterable<BlockTransaction> {
  readonly packed: Uint8Array<ArrayBuffer>

  constructor(packed: Uint8Array<ArrayBuffer>) {
    this.packed = packed
  }

  *[Symbol.iterator](): Iterator<BlockTransaction> {
    const reader = new RowReader(this.packed)
    for (let row = 0; row < reader.rows; row++) {
      yield new PackedTransaction(reader.trading(row), reader, row)
    }
  }
}

/** The transactions as bytes. Transactions that are packed already stay as they are. */
export const packedBytes = (transactions: Iterable<BlockTransaction>): Uint8Array<ArrayBuffer> =>
  transactions instanceof PackedTransactions ? transactions.packed : packTransactions(transactions)

/** A block with its transactions packed. */
export interface PackedBlock {
  readonly head: Omit<TradeBlock, "transactions">
  readonly packed: Uint8Array<ArrayBuffer>
}

/** A message between threads. The memory of the transactions is transferred. */
export const replyOf = (block: PackedBlock): PackedReply<PackedBlock> => ({
  message: block,
  transfer: [block.packed.buffer]
})

/** Turns the block into a message between threads. */
export const packBlock = ({ transactions, ...head }: TradeBlock): PackedReply<PackedBlock> =>
  replyOf({ head, packed: packedBytes(transactions) })

/** The block of a message. */
export const unpackBlock = ({ head, packed }: PackedBlock): TradeBlock => ({
  ...head,
  transactions: new PackedTransactions(packed)
})
