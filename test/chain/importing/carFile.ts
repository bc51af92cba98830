/** Writes blocks of a node as a CAR file of Old Faithful. */
import bs58 from "bs58"
import { Result } from "effect"
import { createHash } from "node:crypto"
import { zstdCompressSync } from "node:zlib"
import { bytesField, WireReader } from "../../../src/chain/geyser/wire.ts"
import { makeBank } from "../../../src/simulator/chain/Bank.ts"
import { getBlock } from "../../../src/simulator/node/blockMethods.ts"
import { makeMarket } from "../../../src/simulator/traders/Market.ts"
import { infoOf, type JsonTransaction } from "../decoding/wireForm.ts"
import { infoOf as protoInfo, protoOf } from "./protoFile.ts"

type Value = number | null | string | Buffer | Link | Raw | ReadonlyArray<Value>

class Link {
  readonly cid: Buffer

  constructor(cid: Buffer) {
    this.cid = cid
  }
}

/** CBOR that is written as it is. */
class Raw {
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }
}

const head = (kind: number, count: number): Buffer => {
  const first = kind << 5
  if (count < 24) {
    return Buffer.of(first + count)
  }
  if (count < 256) {
    return Buffer.of(first + 24, count)
  }
  const long = Buffer.alloc(5)
  long.writeUInt8(first + 26)
  long.writeUInt32BE(count, 1)
  return long
}

const cbor = (value: Value): Buffer => {
  if (value === null) {
    return Buffer.of(0xf6)
  }
  if (typeof value === "number") {
    return head(0, value)
  }
  if (typeof value === "string") {
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  }
  if (value instanceof Raw) {
    return value.bytes
  }
  if (value instanceof Link) {
    return Buffer.concat([head(6, 42), head(2, value.cid.length + 1), Buffer.of(0), value.cid])
  }
  return Buffer.isBuffer(value)
    ? Buffer.concat([head(2, value.length), value])
    : Buffer.concat([head(4, value.length), ...value.map(cbor)])
}

const varint = (value: number): Buffer => {
  const digits: Array<number> = []
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) {
      return Buffer.of(...digits, rest)
    }
    digits.push((rest % 128) + 128)
  }
}

export const section = (bytes: Buffer): Buffer => Buffer.concat([varint(bytes.length), bytes])

/** The header of a file with this root. A map with a version says what the rest is. */
export const header = (root: Buffer, version = 1): Buffer =>
  section(Buffer.concat([head(5, 2), cbor("roots"), cbor([new Link(root)]), cbor("version"), cbor(version)]))

/** The root of a part of an epoch: a CID of nothing. */
const NO_ROOT = Buffer.of(1, 0x55, 0, 0)

/** A checksum of 64 bits. Readers do not check it: the CIDs hold the data. */
const CHECKSUM = new Raw(Buffer.from("1bfedcba9876543210", "hex"))

/** A transaction of a block: the bytes that were sent, and what became of it in JSON. */
export interface CarTransaction {
  readonly sent: Buffer
  readonly json: JsonTransaction
}

export interface CarBlock {
  readonly slot: number
  readonly parentSlot: number
  readonly blockTime: number
  readonly blockhash: string
  readonly transactions: ReadonlyArray<CarTransaction>
}

/** The message `TransactionStatusMeta` of a transaction. */
export const outcomeOf = ({ json }: CarTransaction): Buffer => {
  const wire = new WireReader()
  const info = infoOf(json)
  wire.open(info)
  for (let tag = wire.next(info.length); tag !== 0; tag = wire.next(info.length)) {
    if (tag === bytesField(4)) {
      return Buffer.from(wire.view())
    }
    wire.skip(tag)
  }
  return Buffer.alloc(0)
}

export interface CarForm {
  /** Bytes of a frame; larger data is continued. */
  readonly frame?: number
  /** The metadata as the file has it. */
  readonly metadata?: (transaction: CarTransaction) => Buffer
  /** Whether transactions name their position. */
  readonly isIndexed?: boolean
  /** A part of an epoch has no epoch at its end, and its header names no root. */
  readonly isPart?: boolean
}

const packed = (transaction: CarTransaction): Buffer => zstdCompressSync(outcomeOf(transaction))

/** The file of these blocks. */
export const carOf = (blocks: ReadonlyArray<CarBlock>, form: CarForm = {}): Buffer => {
  const { frame = 1_000_000, isIndexed = true, isPart = false, metadata = packed } = form
  const sections: Array<Buffer> = []
  const add = (value: Value): Link => {
    const bytes = cbor(value)
    const cid = Buffer.concat([Buffer.of(1, 0x71, 0x12, 32), createHash("sha256").update(bytes).digest()])
    sections.push(section(Buffer.concat([cid, bytes])))
    return new Link(cid)
  }
  /** The first frame of some data. The second one links to all that follow it, as the schema allows. */
  const framed = (data: Buffer): Value => {
    const total = Math.max(1, Math.ceil(data.length / frame))
    const part = (index: number) => data.subarray(index * frame, (index + 1) * frame)
    if (total === 1) {
      return [6, CHECKSUM, null, null, data]
    }
    const later = Array.from({ length: Math.max(0, total - 2) }, (_, at) =>
      add([6, CHECKSUM, at + 2, total, part(at + 2), []])
    )
    const second = add([6, CHECKSUM, 1, total, part(1), later.toReversed()])
    return [6, CHECKSUM, 0, total, part(0), [second]]
  }
  const links = blocks.map(({ blockTime, blockhash, parentSlot, slot, transactions }) => {
    const added = transactions.map((transaction, index) => {
      const [data, outcome] = [framed(transaction.sent), framed(metadata(transaction))]
      return add([0, data, outcome, slot, ...(isIndexed ? [index] : [])])
    })
    const half = Math.ceil(added.length / 2)
    const entries = [
      add([1, 12_500, createHash("sha256").update(blockhash).digest(), added.slice(0, half)]),
      add([1, 12_500, Buffer.from(bs58.decode(blockhash)), added.slice(half)])
    ]
    const rewards = add([5, slot, framed(Buffer.alloc(0))])
    return add([2, slot, [[0, 1]], entries, [parentSlot, blockTime, slot], rewards])
  })
  const [first, last] = [blocks[0]?.slot ?? 0, blocks.at(-1)?.slot ?? 0]
  const subset = add([3, first, last, links])
  const root = isPart ? NO_ROOT : add([4, 0, [subset]]).cid
  return Buffer.concat([header(root), ...sections])
}

/** Blocks of the simulator as its node answers them, and as files hold them. */
export const simulated = (many: number) => {
  const bank = makeBank({ seed: "car", startSlot: 1, startUnixMs: 1_790_000_000_000 })
  const market = makeMarket({ seed: "car", bank, swapsPerSecond: 60 })
  return Array.from({ length: many }, () => {
    const { slot } = market.advance()
    const answer = (encoding: string) =>
      JSON.parse(
        Result.getOrThrow(getBlock(bank, [slot, { encoding, maxSupportedTransactionVersion: 0, rewards: false }]))
      )
    const [json, sent] = [answer("json"), answer("base64")]
    const block: CarBlock = {
      slot,
      parentSlot: json.parentSlot,
      blockTime: json.blockTime,
      blockhash: json.blockhash,
      transactions: json.transactions.map((transaction: CarBlock["transactions"][number]["json"], at: number) => ({
        json: transaction,
        sent: Buffer.from(sent.transactions[at].transaction[0], "base64")
      }))
    }
    return { slot, json, block, proto: protoOf(json, slot, (bank.block(slot)?.transactions ?? []).map(protoInfo)) }
  })
}
