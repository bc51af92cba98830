/**
 * Packs the transactions of a block as bytes, the form in which they leave the thread that read them. Iterating makes
 * the objects of one part at a time and does not keep them, so a block of many megabytes is never on the heap as a
 * whole. Most of a block is transfers and balance changes, which are seldom read: their objects are made on first
 * access.
 */
import { Effect } from "effect"
import { ownTurn } from "../../domain/loopTime.ts"
import type { PackedReply } from "../blocks/blockMessages.ts"
import type { BlockTransaction, TradeBlock } from "./TradeBlock.ts"
import {
  type Movements,
  readMovements,
  readTrading,
  type Trading,
  writeMovements,
  writeTrading
} from "./transactionRows.ts"

/** Transactions of one part. Making their objects takes less than a millisecond. */
const PART = 24

/** The transactions of one part, in two pieces. */
export interface PackedPart {
  readonly trading: Uint8Array<ArrayBuffer>
  readonly movements: Uint8Array<ArrayBuffer>
}

const encoder = new TextEncoder()

const packPart = (transactions: ReadonlyArray<BlockTransaction>): PackedPart => ({
  trading: encoder.encode(writeTrading(transactions)),
  movements: encoder.encode(writeMovements(transactions))
})

const textOf = ({ buffer, byteLength, byteOffset }: Uint8Array<ArrayBuffer>): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString()

/** Packs the transactions in parts, in order. */
export const packTransactions = (transactions: ReadonlyArray<BlockTransaction>): ReadonlyArray<PackedPart> =>
  Array.from({ length: Math.ceil(transactions.length / PART) }, (_, part) =>
    packPart(transactions.slice(part * PART, (part + 1) * PART))
  )

/** Transfers and balance changes of the transactions of a part. */
class PartMovements {
  readonly #packed: Uint8Array<ArrayBuffer>
  #made: ReadonlyArray<Movements> | null = null

  constructor(packed: Uint8Array<ArrayBuffer>) {
    this.#packed = packed
  }

  at(place: number): Movements {
    const made = (this.#made ??= readMovements(textOf(this.#packed)))
    return made[place] ?? { changes: [], transfers: [] }
  }
}

class PackedTransaction implements BlockTransaction {
  readonly signature: BlockTransaction["signature"]
  readonly index: number
  readonly legs: BlockTransaction["legs"]
  readonly moves: BlockTransaction["moves"]
  readonly nets: BlockTransaction["nets"]
  readonly unresolved: number
  readonly #movements: PartMovements
  readonly #place: number

  constructor({ index, legs, moves, nets, signature, unresolved }: Trading, movements: PartMovements, place: number) {
    this.signature = signature
    this.index = index
    this.legs = legs
    this.moves = moves
    this.nets = nets
    this.unresolved = unresolved
    this.#movements = movements
    this.#place = place
  }

  get changes(): BlockTransaction["changes"] {
    return this.#movements.at(this.#place).changes
  }

  get transfers(): BlockTransaction["transfers"] {
    return this.#movements.at(this.#place).transfers
  }
}

const unpack = ({ movements, trading }: PackedPart): ReadonlyArray<BlockTransaction> => {
  const moved = new PartMovements(movements)
  return readTrading(textOf(trading)).map((transaction, place) => new PackedTransaction(transaction, moved, place))
}

/** Packed transactions. Each iteration makes the objects again. */
export class PackedTransactions implements Iterable<BlockTransaction> {
  readonly parts: ReadonlyArray<PackedPart>

  constructor(parts: ReadonlyArray<PackedPart>) {
    this.parts = parts
  }

  *[Symbol.iterator](): Iterator<BlockTransaction> {
    for (const part of this.parts) {
      yield* unpack(part)
    }
  }
}

/** The transactions as packed parts. Transactions that are packed already stay as they are. */
export const packedParts = (transactions: Iterable<BlockTransaction>): ReadonlyArray<PackedPart> =>
  transactions instanceof PackedTransactions ? transactions.parts : packTransactions(Array.from(transactions))

/** A block with its transactions packed. */
export interface PackedBlock {
  readonly head: Omit<TradeBlock, "transactions">
  readonly parts: ReadonlyArray<PackedPart>
}

/** Turns the block into a message between threads. The memory of its parts is transferred. */
export const packBlock = ({ transactions, ...head }: TradeBlock): PackedReply<PackedBlock> => {
  const parts = packTransactions(Array.from(transactions))
  return {
    message: { head, parts },
    transfer: parts.flatMap(({ movements, trading }) => [trading.buffer, movements.buffer])
  }
}

/** The block of a message. */
export const unpackBlock = ({ head, parts }: PackedBlock): TradeBlock => ({
  ...head,
  transactions: new PackedTransactions(parts)
})

/** Visits the items in order, each part in its own turn of the event loop. */
export const visitInParts = Effect.fnUntraced(function* <A>(items: Iterable<A>, visit: (item: A) => void) {
  let visited = 0
  for (const item of items) {
    if (visited > 0 && visited % PART === 0) {
      yield* ownTurn
    }
    visit(item)
    visited += 1
  }
})
