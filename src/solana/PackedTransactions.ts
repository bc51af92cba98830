/**
 * How the transactions of a block come from the thread that read them: as bytes. Objects are made a part at a time, when
 * somebody reads them, and nothing keeps them, so that a block of many megabytes is never on the heap as a whole.
 */
import { Effect } from "effect"
import { deserialize, serialize } from "node:v8"
import type { BlockTransaction } from "./BlockFeed.ts"

/** Transactions of one part: making their objects takes about a millisecond. */
const PART = 48

type Part = Uint8Array<ArrayBuffer>

/** The transactions in parts, in order; copied, so that the parts can be handed to another thread. */
export const packTransactions = (transactions: ReadonlyArray<BlockTransaction>): ReadonlyArray<Part> =>
  Array.from({ length: Math.ceil(transactions.length / PART) }, (_, part) =>
    Uint8Array.from(serialize(transactions.slice(part * PART, (part + 1) * PART)))
  )

const unpack = (part: Part): ReadonlyArray<BlockTransaction> => deserialize(part)

/** What was packed. Each reading makes the objects anew. */
export class PackedTransactions implements Iterable<BlockTransaction> {
  readonly #parts: ReadonlyArray<Part>

  constructor(parts: ReadonlyArray<Part>) {
    this.#parts = parts
  }

  *[Symbol.iterator](): Iterator<BlockTransaction> {
    for (const part of this.#parts) {
      yield* unpack(part)
    }
  }
}

/** Visits transactions in order and, part by part, lets others have their turn. */
export const visitTransactions = Effect.fnUntraced(function* (
  transactions: Iterable<BlockTransaction>,
  visit: (transaction: BlockTransaction) => void
) {
  let visited = 0
  for (const transaction of transactions) {
    if (visited > 0 && visited % PART === 0) {
      yield* Effect.yieldNow
    }
    visit(transaction)
    visited += 1
  }
})
