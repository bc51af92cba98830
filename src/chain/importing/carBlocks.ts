/**
 * Blocks of Old Faithful, the public archive of Solana: CAR files of an epoch, or of a part of one. The nodes of a block
 * come before the block itself, so a file is read from its beginning and only the nodes of one block are in memory.
 */
import { Result } from "effect"
import { hash } from "node:crypto"
import { createReadStream } from "node:fs"
import { zstdDecompressSync } from "node:zlib"
import { toBase58 } from "../../domain/base58.ts"
import { blockOf, type DecodedTransaction, decodeTransaction } from "../decoding/decodeBlock.ts"
import type { TradeBlock } from "../decoding/TradeBlock.ts"
import { readWireTransaction } from "../decoding/wireTransaction.ts"
import { MalformedMessage } from "../geyser/wire.ts"
import {
  BLOCK,
  type BlockNode,
  DATA_FRAME,
  type DataFrame,
  ENTRY,
  kindOf,
  readBlock,
  readEntry,
  readFrame,
  readTransaction,
  TRANSACTION
} from "./carNodes.ts"
import { CarSplitter } from "./CarSplitter.ts"
import { type CborValue, CidLink, MalformedCbor, readCbor } from "./cbor.ts"
import { ImportRefused, type SourceBlock } from "./importSource.ts"
import { MIB, MOST_BYTES } from "./LineSplitter.ts"
import { transactionInfo } from "./transactionInfo.ts"

/** How CIDs begin: version 1, a node in DAG-CBOR, and its SHA-256, which has 32 bytes. */
const CID_START = Buffer.of(1, 0x71, 0x12, 32)
const CID_BYTES = 36

/** A smaller byte cannot begin the outcome in its present form. It begins the older form. */
const LEAST_TAG = 8

interface CarNode {
  readonly cid: Buffer
  readonly data: Buffer
}

const refuse = (detail: string): never => {
  throw new ImportRefused({ detail })
}

/** The nodes of a block, by their CID. Their bytes are checked when they are taken. */
class BlockNodes {
  readonly #name: string
  readonly #slot: number
  readonly #nodes: ReadonlyArray<CarNode>
  /** Made when the block is decoded: other threads' blocks are only asked for their last entry. */
  #byCid: ReadonlyMap<string, Buffer> | null = null
  #unpacked = 0

  constructor(name: string, slot: number, nodes: ReadonlyArray<CarNode>) {
    this.#name = name
    this.#slot = slot
    this.#nodes = nodes
  }

  get place(): string {
    return `the block of slot ${this.#slot} in ${this.#name}`
  }

  /** The hash of a block is the hash of its last entry. Null for a block without entries. */
  hashOf({ entries }: BlockNode): string | null {
    const link = entries.at(-1)
    if (link === undefined) {
      return null
    }
    const node = this.#nodes.findLast(({ cid }) => cid.equals(link.cid))
    return toBase58(readEntry(this.#checked(link, node?.data)).hash)
  }

  node(link: CidLink): Buffer {
    this.#byCid ??= new Map(this.#nodes.map(({ cid, data }) => [cid.toString("latin1"), data]))
    return this.#checked(link, this.#byCid.get(link.cid.toString("latin1")))
  }

  /** The bytes of a first part and of those that it links to. */
  whole(first: DataFrame): Buffer {
    const frames = [first]
    // The list grows while it is walked. Damaged links must not let it grow without end.
    for (const { next } of frames) {
      frames.push(...next.map((link) => readFrame(this.node(link))))
      if (frames.length > this.#nodes.length + 1) {
        refuse(`${this.place} has data in more parts than it has nodes`)
      }
    }
    if (first.total !== null && frames.length !== first.total) {
      refuse(`${this.place} has ${frames.length} of ${first.total} parts of some data`)
    }
    if (frames.length === 1) {
      return first.data
    }
    return Buffer.concat(frames.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0)).map(({ data }) => data))
  }

  /** The outcome of a transaction; null when the file does not have it. */
  outcome(metadata: DataFrame): Buffer | null {
    const packed = this.whole(metadata)
    if (packed.length === 0) {
      return null
    }
    const outcome = this.#unpack(packed)
    return outcome.length > 0 && (outcome[0] ?? 0) < LEAST_TAG
      ? refuse(`${this.place} has outcomes in the older form (bincode), which is not read: import it from a node`)
      : outcome
  }

  #unpack(packed: Buffer): Buffer {
    try {
      const outcome = zstdDecompressSync(packed, { maxOutputLength: Math.max(1, MOST_BYTES - this.#unpacked) })
      this.#unpacked += outcome.length
      return outcome
    } catch (error) {
      return refuse(
        error instanceof RangeError
          ? `${this.place} has more than ${MOST_BYTES / MIB} MiB in it`
          : `${this.place} has an outcome that is not in Zstandard`
      )
    }
  }

  #checked({ cid }: CidLink, data: Buffer | undefined): Buffer {
    if (data === undefined) {
      return refuse(`${this.place} lacks a node`)
    }
    const isSame = hash("sha256", data, "buffer").equals(cid.subarray(CID_START.length))
    return isSame ? data : refuse(`${this.place} is damaged: a node has another hash`)
  }
}

const decodeNode = (nodes: BlockNodes, { blockTime, slot }: BlockNode, link: CidLink, place: number) => {
  const { data, index, metadata } = readTransaction(nodes.node(link))
  const indexInBlock = index ?? place
  const info = transactionInfo(nodes.whole(data), nodes.outcome(metadata))
  const read = info === null ? null : readWireTransaction(info, { slot, blockTime, indexInBlock })
  const decoded: DecodedTransaction | null =
    read === null || Result.isFailure(read) ? null : decodeTransaction(read.success, indexInBlock)
  return { index: indexInBlock, decoded }
}

const decodeNodes = (nodes: BlockNodes, block: BlockNode): TradeBlock => {
  try {
    const links = block.entries.flatMap((entry) => readEntry(nodes.node(entry)).transactions)
    // One at a time, so that only one outcome is unpacked.
    const transactions = links.map((link, place) => decodeNode(nodes, block, link, place))
    return blockOf(
      block,
      transactions.toSorted((a, b) => a.index - b.index).map(({ decoded }) => decoded)
    )
  } catch (error) {
    throw error instanceof MalformedMessage || error instanceof MalformedCbor
      ? new ImportRefused({ detail: `${nodes.place} has a node that cannot be read: ${error.message}` })
      : error
  }
}

const isHeader = (value: CborValue): value is ReadonlyMap<string, CborValue> =>
  value instanceof Map && value.get("version") === 1

/** Reads the sections of a file, in their order. */
class CarReader {
  readonly #name: string
  readonly #isOwn: () => boolean
  /** The node that the file ends with; null when its header does not name one. Undefined before the header. */
  #root: Buffer | null | undefined
  #nodes: Array<CarNode> = []
  #bytes = 0
  /** The block before. */
  #before: { readonly slot: number; readonly hash: string | null } = { slot: -1, hash: null }

  constructor(name: string, isOwn: () => boolean) {
    this.#name = name
    this.#isOwn = isOwn
  }

  /** The block that ends with this section; null for other sections and for blocks of other threads. */
  add(section: Buffer): SourceBlock | null {
    if (this.#root === undefined) {
      this.#root = this.#rootIn(section)
      return null
    }
    const [cid, data] = [section.subarray(0, CID_BYTES), section.subarray(CID_BYTES)]
    const kind = kindOf(data)
    if (kind === null || !cid.subarray(0, CID_START.length).equals(CID_START)) {
      return refuse(`${this.#name} is damaged, or is not a CAR file of Old Faithful`)
    }
    if (this.#root?.equals(cid) === true) {
      this.#root = null
    }
    if (kind === BLOCK) {
      return this.#block({ cid, data })
    }
    if (kind === TRANSACTION || kind === ENTRY || kind === DATA_FRAME) {
      this.#keep({ cid, data })
    }
    return null
  }

  end(isWhole: boolean): void {
    if (!isWhole || this.#root !== null || this.#nodes.length > 0 || this.#before.slot === -1) {
      refuse(`${this.#name} is cut off, or has no blocks`)
    }
  }

  #rootIn(section: Buffer): Buffer | null {
    const header = readCbor(section)
    const roots = isHeader(header) ? header.get("roots") : null
    if (!Array.isArray(roots)) {
      return refuse(`${this.#name} is not a CAR file of version 1`)
    }
    const [root] = roots
    // Parts of an epoch name a root without content.
    return root instanceof CidLink && root.cid.length === CID_BYTES ? root.cid : null
  }

  #keep(node: CarNode): void {
    // Small nodes count too.
    this.#bytes += node.cid.length + node.data.length
    if (this.#bytes > MOST_BYTES) {
      refuse(`${this.#name} has a block of more than ${MOST_BYTES / MIB} MiB, after slot ${this.#before.slot}`)
    }
    this.#nodes.push(node)
  }

  #block({ cid, data }: CarNode): SourceBlock | null {
    const block = readBlock(data)
    const { parentSlot, slot } = block
    const before = this.#before
    if (slot <= before.slot) {
      refuse(`${this.#name}: slot ${slot} comes after slot ${before.slot}; blocks have to be in order`)
    }
    if (!hash("sha256", data, "buffer").equals(cid.subarray(CID_START.length))) {
      refuse(`the block of slot ${slot} in ${this.#name} is damaged: a node has another hash`)
    }
    const nodes = new BlockNodes(this.#name, slot, this.#nodes)
    const blockhash = nodes.hashOf(block)
    this.#before = { slot, hash: blockhash }
    this.#nodes = []
    this.#bytes = 0
    if (!this.#isOwn()) {
      return null
    }
    const answer = { blockhash, previousBlockhash: parentSlot === before.slot ? before.hash : null }
    const time = { ms: block.blockTime === null ? null : block.blockTime * 1000, isEstimated: false }
    return { slot, answer, time, decode: () => decodeNodes(nodes, block) }
  }
}

/** Bytes that are read at once. */
const PIECE = MIB

/** The blocks of a file that are this thread's, in order. */
export async function* carBlocks(path: string, name: string, isOwn: () => boolean): AsyncGenerator<SourceBlock> {
  const splitter = new CarSplitter(name)
  const reader = new CarReader(name, isOwn)
  try {
    for await (const bytes of createReadStream(path, { highWaterMark: PIECE })) {
      for (const section of splitter.add(bytes)) {
        const block = reader.add(section)
        if (block !== null) {
          yield block
        }
      }
    }
    reader.end(splitter.isWhole)
  } catch (error) {
    throw error instanceof MalformedCbor
      ? new ImportRefused({ detail: `${name} is damaged, or is not a CAR file of Old Faithful: ${error.message}` })
      : error
  }
}
