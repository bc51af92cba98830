import type { BlockTransaction } from "../../../src/chain/decoding/TradeBlock.ts"

/** Transactions as plain objects, for comparison. */
export const plain = (transactions: Iterable<BlockTransaction>): ReadonlyArray<BlockTransaction> =>
  Array.from(transactions, ({ changes, index, legs, moves, nets, signature, transfers, unresolved }) => ({
    signature,
    index,
    legs,
    nets,
    transfers,
    changes,
    moves,
    unresolved
  }))
