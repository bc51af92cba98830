/** Blocks as the node answers them, compressed. */
import { Schema } from "effect"
import { zstdCompressSync } from "node:zlib"
import type { BlockHead } from "../blocks/BlockFeed.ts"
import type { BlockDecoder } from "../blocks/blockMessages.ts"

export interface RawBlock extends BlockHead {
  /** The JSON of `getBlock`, compressed with zstd. */
  readonly json: Uint8Array<ArrayBuffer>
}

const isBlock = Schema.is(
  Schema.Struct({
    parentSlot: Schema.Int,
    blockTime: Schema.optionalKey(Schema.NullOr(Schema.Int)),
    transactions: Schema.Array(Schema.Unknown)
  })
)

/** Keeps the transactions, and compresses them with the rest of their block. */
export const rawBlockDecoder = (slot: number): BlockDecoder<RawBlock> => {
  const transactions: Array<unknown> = []
  return {
    add: (transaction) => transactions.push(transaction),
    end: (rest) => {
      if (!isBlock(rest)) {
        return null
      }
      const result = { ...rest, transactions: [...transactions, ...rest.transactions] }
      const json = new Uint8Array(zstdCompressSync(Buffer.from(JSON.stringify(result))))
      const blockTimeMs = typeof rest.blockTime === "number" ? rest.blockTime * 1000 : null
      return { message: { slot, parentSlot: rest.parentSlot, blockTimeMs, json }, transfer: [json.buffer] }
    }
  }
}
