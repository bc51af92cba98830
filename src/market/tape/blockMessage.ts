/**
 * A priced block as bytes: a version, then compressed the length of the head, the head as JSON, and the transactions as
 * packed rows. The head is the block with its priced trades, so that every process has the same prices.
 */
import { Schema } from "effect"
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { packedBytes, PackedTransactions } from "../../chain/decoding/PackedTransactions.ts"
import type { LiquidityChange } from "../../api/schemas/LiquidityEvent.ts"
import type { PricedBatch } from "../model/TradeBatch.ts"
import { jsonOf } from "../../domain/jsonOf.ts"
import { type Text, tradeOfText } from "../model/tradeText.ts"
import { transactionsOfLines } from "./secondRows.ts"

/**
 * Version of the encoding, the first byte of a message. Two versions meet during a deploy: readers are deployed before
 * writers, and also read the version of the release before. No release has written version 1.
 */
export const VERSION = 3

/** The bytes are not a block, or they have a version that this process cannot read. */
export class UnreadableBlock extends Schema.TaggedError<UnreadableBlock>()("UnreadableBlock", {
  /** The version of the message; null when it has none. */
  version: Schema.NullOr(Schema.Int),
  cause: Schema.Defect()
}) {}

const fast = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

type Head = Text<Omit<PricedBatch, "transactions">>

const LENGTH_BYTES = 4
/** Ends the lines of version 2. */
const NEWLINE = 10

export const encodeBlock = ({ transactions, ...head }: PricedBatch): Uint8Array => {
  const json = Buffer.from(jsonOf(head))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32LE(json.length)
  const body = Buffer.concat([length, json, packedBytes(transactions)])
  return Buffer.concat([Buffer.of(VERSION), zstdCompressSync(body, fast)])
}

const liquidityOf = ({ sides, ...rest }: Text<LiquidityChange>): LiquidityChange => ({
  ...rest,
  sides: sides.map((side) => ({ ...side, amount: BigInt(side.amount) }))
})

const headOf = (line: string): Omit<PricedBatch, "transactions"> => {
  const { liquidity, openings, supply, trades, transfers, ...rest }: Head = JSON.parse(line)
  return {
    ...rest,
    trades: trades.map(tradeOfText),
    ...(transfers !== undefined && { transfers: transfers.map(tradeOfText) }),
    ...(supply !== undefined && { supply: supply.map(({ change, mint }) => ({ mint, change: BigInt(change) })) }),
    ...(liquidity !== undefined && { liquidity: liquidity.map(liquidityOf) }),
    ...(openings !== undefined && {
      openings: openings.map((opening) => ({ ...opening, lamports: BigInt(opening.lamports) }))
    })
  }
}

/** The lines, without copying their bytes. Throws when the last line has no end. */
const linesOf = (bytes: Buffer<ArrayBuffer>): ReadonlyArray<Buffer<ArrayBuffer>> => {
  const lines: Array<Buffer<ArrayBuffer>> = []
  for (let from = 0; from < bytes.length;) {
    const end = bytes.indexOf(NEWLINE, from)
    if (end < 0) {
      throw new Error("the last line has no end")
    }
    lines.push(bytes.subarray(from, end))
    from = end + 1
  }
  return lines
}

const decodeSecond = (body: Uint8Array): PricedBatch => {
  const [first = "", ...pieces] = linesOf(zstdDecompressSync(body)).map((line) => line.toString())
  const transactions = pieces.flatMap((trading, place) => {
    const movements = pieces[place + 1]
    return place % 2 === 0 && movements !== undefined ? transactionsOfLines(trading, movements) : []
  })
  return { ...headOf(first), transactions }
}

const decodeThird = (body: Uint8Array): PricedBatch => {
  const bytes = zstdDecompressSync(body)
  const end = LENGTH_BYTES + bytes.readUInt32LE(0)
  return {
    ...headOf(bytes.toString("utf8", LENGTH_BYTES, end)),
    transactions: new PackedTransactions(bytes.subarray(end))
  }
}

/** The versions that this process reads. */
const decoders: Readonly<Record<number, (body: Uint8Array) => PricedBatch>> = {
  2: decodeSecond,
  3: decodeThird
}

/** Decodes a message. Throws `UnreadableBlock`. */
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
