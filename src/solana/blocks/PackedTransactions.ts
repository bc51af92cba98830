/**
 * How the transactions of a block come from the thread that read them: as bytes. Objects are made a part at a time, when
 * somebody reads them, and nothing keeps them, so that a block of many megabytes is never on the heap as a whole. What
 * moved beside trades is most of it and seldom asked for: its objects are made only then.
 */
import { Effect } from "effect"
import { deserialize, serialize } from "node:v8"
import type { BlockTransaction } from "./BlockFeed.ts"

/** Transactions of one part: making their objects takes less than a millisecond. */
const PART = 24

type Trading = Pick<BlockTransaction, "index" | "legs" | "nets" | "signature" | "unresolved">
type Movements = Pick<BlockTransaction, "changes" | "transfers">

/** Some transactions, in two pieces. */
export interface PackedPart {
  readonly trading: Uint8Array<ArrayBuffer>
  readonly movements: Uint8Array<ArrayBuffer>
}

// Copied: what the serializer gives lies in a larger buffer, which cannot be handed to another thread.
const pack = (value: unknown): Uint8Array<ArrayBuffer> => Uint8Array.from(serialize(value))

const packPart = (transactions: ReadonlyArray<BlockTransaction>): PackedPart => ({
  trading: pack(
    transactions.map(({ index, legs, nets, signature, unresolved }): Trading => ({
      index,
      legs,
      nets,
      signature,
      unresolved
    }))
  ),
  movements: pack(transactions.map(({ changes, transfers }): Movements => ({ changes, transfers })))
})

/** The transactions in parts, in order. */
export const packTransactions = (transactions: ReadonlyArray<BlockTransaction>): ReadonlyArray<PackedPart> =>
  Array.from({ length: Math.ceil(transactions.length / PART) }, (_, part) =>
    packPart(transactions.slice(part * PART, (part + 1) * PART))
  )

/** The memory of the parts, to be handed over with them. */
export const buffersOf = (parts: ReadonlyArray<PackedPart>): Array<ArrayBuffer> =>
  parts.flatMap(({ movements, trading }) => [trading.buffer, movements.buffer])

/** What moved in each transaction of a part. */
class PartMovements {
  readonly #packed: Uint8Array
  #made: ReadonlyArray<Movements> | null = null

  constructor(packed: Uint8Array) {
    this.#packed = packed
  }

  at(place: number): Movements {
    const made: ReadonlyArray<Movements> = (this.#made ??= deserialize(this.#packed))
    return made[place] ?? { changes: [], transfers: [] }
  }
}

class PackedTransaction implements BlockTransaction {
  readonly signature: BlockTransaction["signature"]
  readonly index: number
  readonly legs: BlockTransaction["legs"]
  readonly nets: BlockTransaction["nets"]
  readonly unresolved: number
  readonly #movements: PartMovements
  readonly #place: number

  constructor({ index, legs, nets, signature, unresolved }: Trading, movements: PartMovements, place: number) {
    this.signature = signature
    this.index = index
    this.legs = legs
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
  const made: ReadonlyArray<Trading> = deserialize(trading)
  const moved = new PartMovements(movements)
  return made.map((transaction, place) => new PackedTransaction(transaction, moved, place))
}

/** What was packed. Each reading makes the objects anew. */
export class PackedTransactions implements Iterable<BlockTransaction> {
  readonly #parts: ReadonlyArray<PackedPart>

  constructor(parts: ReadonlyArray<PackedPart>) {
    this.#parts = parts
  }

  *[Symbol.iterator](): Iterator<BlockTransaction> {
    for (const part of this.#parts) {
      yield* unpack(part)
    }
  }
}

/** Visits what there is in order and, part by part, lets others have their turn. */
export const visitInParts = Effect.fnUntraced(function* <A>(items: Iterable<A>, visit: (item: A) => void) {
  let visited = 0
  for (const item of items) {
    if (visited > 0 && visited % PART === 0) {
      yield* Effect.yieldNow
    }
    visit(item)
    visited += 1
  }
})
