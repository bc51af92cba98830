/** A priced block as bytes, for the processes that apply it. */
import { Schema } from "effect"
import { deserialize, serialize } from "node:v8"
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { packedParts, type PackedPart, PackedTransactions } from "../../trades/blocks/PackedTransactions.ts"
import type { BlockTransaction } from "../../trades/blocks/TradeBlock.ts"
import type { PricedBatch } from "../tape/TradeBatch.ts"

/**
 * Version of the encoding, the first byte of a message. During a deploy two versions meet: a reader also has the one before,
 * and readers are deployed before writers.
 */
export const VERSION = 2

/** The bytes are no block, or one of a version that this process cannot read. */
export class UnreadableBlock extends Schema.TaggedError<UnreadableBlock>()("UnreadableBlock", {
  /** The version of the message; null when it has none. */
  version: Schema.NullOr(Schema.Int),
  cause: Schema.Defect()
}) {}

/** The content: the priced trades, so that every process has the same prices, and the packed transactions. */
interface Message extends Omit<PricedBatch, "transactions"> {
  readonly parts: ReadonlyArray<PackedPart>
}

const fast = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** The block as bytes: the version, then a structured clone, compressed. */
export const encodeBlock = ({ transactions, ...rest }: PricedBatch): Uint8Array => {
  const message: Message = { ...rest, parts: packedParts(transactions) }
  return Buffer.concat([Buffer.of(VERSION), zstdCompressSync(serialize(message), fast)])
}

const decodeSecond = (body: Uint8Array): PricedBatch => {
  const { parts, ...rest } = deserialize(zstdDecompressSync(body)) as Message
  return { ...rest, transactions: new PackedTransactions(parts) }
}

/** In version 1 the parts were structured clones themselves. */
const decodeFirst = (body: Uint8Array): PricedBatch => {
  const { parts, ...rest } = deserialize(zstdDecompressSync(body)) as Message
  const transactions = parts.flatMap(({ movements, trading }) => {
    const moved = deserialize(movements)
    return (deserialize(trading) as ReadonlyArray<BlockTransaction>).map((each, place) => ({
      ...each,
      ...moved[place]
    }))
  })
  return { ...rest, transactions }
}

/** The versions that this process reads. */
const decoders: Readonly<Record<number, (body: Uint8Array) => PricedBatch>> = {
  1: decodeFirst,
  2: decodeSecond
}

/** The block of a message. Throws `UnreadableBlock`. */
export const decodeBlock = (bytes: Uint8Array): PricedBatch => {
  const [version = null] = bytes
  const decode = version === null ? undefined : decoders[version]
  if (decode === undefined) {
    throw new UnreadableBlock({ version, cause: new Error(`version ${version ?? "none"} of a block is unknown`) })
  }
  try {
    return decode(bytes.subarray(1))
  } catch (cause) {
    throw new UnreadableBlock({ version, cause })
  }
}
