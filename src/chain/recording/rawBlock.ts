/** Blocks as the node answers them, compressed. */
import { Schema } from "effect"
import { zstdCompressSync } from "node:zlib"
import type { BlockHead } from "../blocks/BlockFeed.ts"
import { isFields } from "../decoding/jsonFields.ts"
import type { BlockDecoder, PackedReply } from "../blocks/blockMessages.ts"

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

/** Compresses the result of `getBlock`; null when it is not a block. */
const packRawBlock = (slot: number, result: unknown): PackedReply<RawBlock> | null => {
  if (!isBlock(result)) {
    return null
  }
  const json = new Uint8Array(zstdCompressSync(Buffer.from(JSON.stringify(result))))
  const blockTimeMs = typeof result.blockTime === "number" ? result.blockTime * 1000 : null
  return { message: { slot, parentSlot: result.parentSlot, blockTimeMs, json }, transfer: [json.buffer] }
}

/** Keeps the transactions, and compresses them with the rest of their block. */
export const rawBlockDecoder = (slot: number): BlockDecoder<RawBlock> => {
  const transactions: Array<unknown> = []
  return {
    add: (transaction) => transactions.push(transaction),
    end: (rest) => packRawBlock(slot, isFields(rest) ? { ...rest, transactions } : rest)
  }
}
