/**
 * The past of a simulated chain from a file, at the time of a start. The same seed makes the same blocks at any time:
 * only slots, times and signatures differ.
 */
import { Option } from "effect"
import type { RecordedBlocks } from "../../chain/blocks/RecordedBlocks.ts"
import { type PackedBlock, unpackBlock } from "../../chain/decoding/PackedTransactions.ts"
import { MOST_CHANGES } from "../../chain/decoding/liquidityChanges.ts"
import { MOST_OPENINGS } from "../../chain/decoding/walletOpenings.ts"
import type { BlockTransaction, TradeBlock } from "../../chain/decoding/TradeBlock.ts"
import type { Signature } from "../../domain/Signature.ts"
import { signatureOf } from "../chain/Ledger.ts"
import type { SlotTime } from "../traders/startChain.ts"
import type { Past } from "./pastFile.ts"

/** Where and when a transaction is on the chain. */
type Place = Pick<BlockTransaction["transfers"][number], "blockTime" | "signature" | "slot">

class MovedTransaction implements BlockTransaction {
  readonly signature: BlockTransaction["signature"]
  readonly index: number
  readonly legs: BlockTransaction["legs"]
  readonly nets: BlockTransaction["nets"]
  readonly unresolved: number
  readonly #from: BlockTransaction
  readonly #place: Place

  constructor(from: BlockTransaction, place: Place) {
    this.signature = place.signature
    this.index = from.index
    this.legs = from.legs.map((leg) => ({ ...leg, ...place }))
    this.nets = from.nets.map((net) => ({ ...net, ...place }))
    this.unresolved = from.unresolved
    this.#from = from
    this.#place = place
  }

  get moves(): BlockTransaction["moves"] {
    return this.#from.moves
  }

  get changes(): BlockTransaction["changes"] {
    return this.#from.changes
  }

  get transfers(): BlockTransaction["transfers"] {
    return this.#from.transfers.map((transfer) => ({ ...transfer, ...this.#place }))
  }
}

/** Transactions of a block at another slot. Each iteration makes the objects again. */
class MovedTransactions implements Iterable<BlockTransaction> {
  readonly #from: Iterable<BlockTransaction>
  readonly #placeOf: (index: number) => Place

  constructor(from: Iterable<BlockTransaction>, placeOf: (index: number) => Place) {
    this.#from = from
    this.#placeOf = placeOf
  }

  *[Symbol.iterator](): Iterator<BlockTransaction> {
    for (const transaction of this.#from) {
      yield new MovedTransaction(transaction, this.#placeOf(transaction.index))
    }
  }
}

/** The blocks of a past that ends at another slot and time. */
export const recordedPast = (past: Past, live: SlotTime): RecordedBlocks<TradeBlock> => {
  const slots = live.slot - past.live.slot
  const ms = live.unixMs - past.live.unixMs
  const { seed } = past.settings
  const packed = new Map(past.blocks.map((block) => [block.head.slot + slots, block]))
  const all = Array.from(packed.keys())
  const [first = live.slot] = all
  const moved = (block: PackedBlock): TradeBlock => {
    const { transactions, ...head } = unpackBlock(block)
    const slot = head.slot + slots
    const blockTimeMs = head.blockTimeMs === null ? null : head.blockTimeMs + ms
    const blockTime = blockTimeMs === null ? null : blockTimeMs / 1000
    const placeOf = (index: number): Place => ({
      signature: signatureOf(seed, slot, index, 0) as Signature,
      slot,
      blockTime
    })
    const signedAt = (index: number) => ({ signature: placeOf(index).signature })
    return {
      ...head,
      slot,
      // The first block of a chain names itself as its parent.
      parentSlot: Math.max(first, head.parentSlot + slots),
      blockTimeMs,
      liquidity: head.liquidity?.map((change) => ({
        ...change,
        ...signedAt(Math.floor(change.index / MOST_CHANGES))
      })),
      openings: head.openings?.map((opening) => ({
        ...opening,
        ...signedAt(Math.floor(opening.index / MOST_OPENINGS))
      })),
      transactions: new MovedTransactions(transactions, placeOf)
    }
  }
  return {
    first,
    last: all.at(-1) ?? live.slot - 1,
    firstMs: (past.blocks[0]?.head.blockTimeMs ?? past.live.unixMs) + ms,
    list: (from, limit) => {
      const begin = all.findIndex((slot) => slot >= from)
      return begin === -1 ? [] : all.slice(begin, begin + limit)
    },
    read: (slot) => Option.map(Option.fromUndefinedOr(packed.get(slot)), moved)
  }
}
