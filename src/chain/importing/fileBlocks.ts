/**
 * Blocks in files. A folder or a file may hold:
 *
 * - a recording of the service (`*.fathomrec`),
 * - blocks as `getBlock` answers them, one file each, named by the slot (`250000000.json`),
 * - lines of JSON, one block each (`*.ndjson` or `*.jsonl`): `{"slot": 250000000, "block": {...}}`, or the block itself
 *   with a member `slot`,
 * - blocks in Protobuf as a Geyser sends them (`*.pb`), see `protoBlocks.ts`,
 * - CAR files of Old Faithful (`*.car`), see `carBlocks.ts`.
 *
 * JSON and Protobuf may be compressed with gzip (`.gz`) or Zstandard (`.zst`). A block may be wrapped as the response of a call.
 */
import { Effect, Stream } from "effect"
import { createReadStream, promises as files } from "node:fs"
import { basename, join } from "node:path"
import { createGunzip, createZstdDecompress, gunzipSync, zstdDecompressSync } from "node:zlib"
import { parseJson } from "../rpc/accountJson.ts"
import { isCount, isFields } from "../decoding/jsonFields.ts"
import { FORMAT, readEntries } from "../recording/recordEntry.ts"
import { listFiles } from "../recording/recordFiles.ts"
import { carBlocks } from "./carBlocks.ts"
import { type ImportRange, ImportRefused, type ImportShare, type SourceBlock } from "./importSource.ts"
import { type Line, LineSplitter, MIB, MOST_BYTES } from "./LineSplitter.ts"
import { makeProtoBlocks } from "./protoBlocks.ts"

const LINES = /\.(?:ndjson|jsonl)(?:\.gz|\.zst)?$/u
const ONE = /^(\d{1,12})\.json(?:\.gz|\.zst)?$/u
const RECORDING = /\.fathomrec$/u
const PROTO = /\.pb(?:\.gz|\.zst)?$/u
const CAR = /\.car$/u

const refuse = (detail: string): never => {
  throw new ImportRefused({ detail })
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : "it cannot be read")

/** A block, whether or not it is wrapped as a response; null when it is not one. */
const blockIn = (value: unknown): unknown => {
  const inner = isFields(value) && isFields(value["result"]) ? value["result"] : value
  return isFields(inner) && Array.isArray(inner["transactions"]) ? inner : null
}

/** Says of each block in turn whether this thread decodes it. */
type Turns = () => boolean

const turnsOf = ({ part, parts }: ImportShare): Turns => {
  let seen = -1
  return () => {
    seen += 1
    return seen % parts === part
  }
}

/** The block of a line, with its slot. */
const blockOfLine = (text: string, place: string): SourceBlock => {
  const line = parseJson(text)
  if (!isFields(line) || !isCount(line["slot"])) {
    return refuse(`${place} is not a block with a member slot`)
  }
  const answer = blockIn(line["block"] ?? line)
  return answer === null ? refuse(`${place} has no transactions`) : { slot: line["slot"], answer }
}

/** Runs what unpacks the bytes of a file. Its failure names the file, and says whether the bytes are too many. */
const unpacked = (name: string, unpack: (limits: { readonly maxOutputLength: number }) => Buffer): Buffer => {
  try {
    return unpack({ maxOutputLength: MOST_BYTES })
  } catch (error) {
    const isTooLarge = error instanceof RangeError
    return refuse(
      isTooLarge
        ? `${name} has more than ${MOST_BYTES / MIB} MiB in it`
        : `${name} is cut off or damaged: ${textOf(error)}`
    )
  }
}

const decompressed = (name: string, bytes: Buffer): Buffer =>
  name.endsWith(".gz")
    ? unpacked(name, (limits) => gunzipSync(bytes, limits))
    : name.endsWith(".zst")
      ? unpacked(name, (limits) => zstdDecompressSync(bytes, limits))
      : bytes

/** The bytes of a file. It never holds more than the bound, also of a file that grows while it is read. */
const bytesOf = async (path: string): Promise<Buffer> => {
  const parts: Array<Buffer> = []
  let length = 0
  for await (const part of createReadStream(path, { end: MOST_BYTES })) {
    parts.push(part)
    length += part.length
  }
  return length > MOST_BYTES
    ? refuse(`${basename(path)} has more than ${MOST_BYTES / MIB} MiB`)
    : Buffer.concat(parts, length)
}

/**
 * Bytes that are read or unpacked at once. A block has megabytes, and Node's default of 64 KiB or less takes more than twice
 * the processor time.
 */
const PIECE = MIB

/** The bytes of a file, unpacked where its name says that they are packed. */
async function* piecesOf(path: string, name: string): AsyncGenerator<Buffer> {
  const raw = createReadStream(path, { highWaterMark: PIECE })
  const unpacker = name.endsWith(".gz")
    ? createGunzip({ chunkSize: PIECE })
    : name.endsWith(".zst")
      ? createZstdDecompress({ chunkSize: PIECE })
      : null
  // `pipe` does not pass a failure on.
  raw.on("error", (error) => unpacker?.destroy(error))
  try {
    for await (const bytes of unpacker === null ? raw : raw.pipe(unpacker)) {
      yield bytes
    }
  } catch (error) {
    refuse(`${name} is cut off or damaged: ${textOf(error)}`)
  } finally {
    raw.destroy()
    unpacker?.destroy()
  }
}

async function* linesIn(path: string, name: string): AsyncGenerator<Line> {
  const splitter = new LineSplitter(name)
  for await (const bytes of piecesOf(path, name)) {
    yield* splitter.add(bytes)
  }
  yield splitter.end()
}

/**
 * Frees the memory of a piece at once. Otherwise V8 marks its whole heap for every 64 MiB of pieces. Copy the piece first. A
 * piece that ends before its memory does is kept, because the unpacker writes the next piece behind it.
 */
const free = (piece: Buffer): void => {
  const { buffer, byteOffset, length } = piece
  if (buffer instanceof ArrayBuffer && buffer.byteLength === PIECE && byteOffset + length === PIECE) {
    buffer.transfer(0)
  }
}

async function* protoBlocks(path: string, name: string, isOwn: Turns): AsyncGenerator<SourceBlock> {
  const reader = makeProtoBlocks(name, isOwn)
  for await (const piece of piecesOf(path, name)) {
    const blocks = reader.add(piece)
    free(piece)
    yield* blocks
  }
  reader.end()
}

async function* linesOf(path: string, name: string, isOwn: Turns): AsyncGenerator<SourceBlock> {
  let [number, before] = [0, -1]
  for await (const line of linesIn(path, name)) {
    number += 1
    if (!line.isBlank && isOwn()) {
      const block = blockOfLine(line.text(), `line ${number} of ${name}`)
      if (block.slot <= before) {
        refuse(`line ${number} of ${name}: slot ${block.slot} comes after slot ${before}; lines have to be in order`)
      }
      before = block.slot
      yield block
    }
  }
}

async function* oneBlock(path: string, name: string): AsyncGenerator<SourceBlock> {
  const answer = blockIn(parseJson(decompressed(name, await bytesOf(path)).toString()))
  const slot = Number(ONE.exec(name)?.[1])
  yield answer === null ? refuse(`${name} is not a block as getBlock answers it`) : { slot, answer }
}

/** The blocks of a recording's files, from the one that has the first wanted slot. */
async function* recordedBlocks(
  folder: string,
  { fromSlot, toSlot }: ImportRange,
  isOwn: Turns
): AsyncGenerator<SourceBlock> {
  const listed = await listFiles(folder)
  const later = listed.findIndex(({ slot }) => fromSlot !== null && slot > fromSlot)
  const start = fromSlot === null ? 0 : Math.max(0, (later === -1 ? listed.length : later) - 1)
  let newest = -1
  for (const { path } of listed.slice(start)) {
    for (const entry of readEntries(await bytesOf(path))) {
      if (entry._tag === "Header" && entry.header.format !== FORMAT) {
        refuse(`${basename(path)} has format ${entry.header.format}, and this version reads format ${FORMAT}`)
      }
      // A process that starts again may record a block a second time.
      if (entry._tag === "Block" && entry.block.slot > newest) {
        const { blockTimeEstimated, blockTimeMs, json, slot } = entry.block
        newest = slot
        if (!isOwn()) {
          continue
        }
        const name = `the block of slot ${slot} in ${basename(path)}`
        const answer = parseJson(unpacked(name, (limits) => zstdDecompressSync(json, limits)).toString())
        yield { slot, answer, time: { ms: blockTimeMs, isEstimated: blockTimeEstimated } }
      }
    }
    if (toSlot !== null && newest > toSlot) {
      return
    }
  }
}

/** By the numbers in names: the slot of a block, or the number of an epoch. */
const { compare: byNumber } = new Intl.Collator("en", { numeric: true })

/** The blocks of a file that is not a recording; null when its name has no known form. */
const blocksIn = (path: string, name: string, isOwn: Turns): AsyncGenerator<SourceBlock> | null => {
  if (ONE.test(name)) {
    return oneBlock(path, name)
  }
  if (CAR.test(name)) {
    return carBlocks(path, name, isOwn)
  }
  if (PROTO.test(name)) {
    return protoBlocks(path, name, isOwn)
  }
  return LINES.test(name) ? linesOf(path, name, isOwn) : null
}

async function* folderBlocks(folder: string, range: ImportRange, isOwn: Turns): AsyncGenerator<SourceBlock> {
  const names = await files.readdir(folder)
  const kinds = [RECORDING, ONE, LINES, PROTO, CAR].filter((kind) => names.some((name) => kind.test(name)))
  const [kind] = kinds
  if (kind === undefined || kinds.length > 1) {
    const found = kind === undefined ? "holds no blocks" : "holds blocks in more than one form"
    refuse(`${folder} ${found}: *.fathomrec, <slot>.json, *.ndjson, *.pb or *.car`)
  }
  if (kind === RECORDING) {
    return yield* recordedBlocks(folder, range, isOwn)
  }
  const listed = names
    .filter((name) => kind?.test(name))
    .toSorted(kind === LINES || kind === PROTO ? undefined : byNumber)
  let newest = -1
  for (const name of listed) {
    // Blocks before the range need not be read. Blocks after it are, until one is found.
    const slot = kind === ONE ? Number(ONE.exec(name)?.[1]) : null
    if (slot !== null && range.fromSlot !== null && slot < range.fromSlot) {
      continue
    }
    if (kind === ONE && !isOwn()) {
      continue
    }
    const path = join(folder, name)
    for await (const block of blocksIn(path, name, isOwn) ?? []) {
      if (block.slot <= newest) {
        refuse(`${name}: slot ${block.slot} comes after slot ${newest}; files have to be in order by name`)
      }
      newest = block.slot
      yield block
    }
  }
}

async function* blocksAt(path: string, range: ImportRange, share: ImportShare): AsyncGenerator<SourceBlock> {
  const isOwn = turnsOf(share)
  const name = basename(path)
  const found = await files.stat(path)
  if (found.isDirectory()) {
    yield* folderBlocks(path, range, isOwn)
  } else if (!found.isFile()) {
    refuse(`${path} is neither a folder nor a file`)
  } else {
    yield* (
      blocksIn(path, name, isOwn) ??
        refuse(`${path} is neither a folder nor named <slot>.json, *.ndjson, *.pb or *.car`)
    )
  }
}

const refusedBy = (error: unknown): ImportRefused =>
  error instanceof ImportRefused ? error : new ImportRefused({ detail: textOf(error) })

/**
 * The blocks of files, in the order of the chain. They may begin before the range and go on after it. With a share, only
 * the blocks that it names are parsed and returned.
 */
export const fileBlocks = (
  path: string,
  range: ImportRange,
  share: ImportShare = { part: 0, parts: 1 }
): Stream.Stream<SourceBlock, ImportRefused> =>
  Stream.fromAsyncIterable({ [Symbol.asyncIterator]: () => blocksAt(path, range, share) }, refusedBy)

const genesisIn = async (folder: string): Promise<string | null> => {
  const listed = (await files.stat(folder)).isDirectory() ? await listFiles(folder) : []
  for (const { path } of listed) {
    const [first] = readEntries(await bytesOf(path)).take(1)
    if (first?._tag === "Header" && first.header.genesis !== null) {
      return first.header.genesis
    }
  }
  return null
}

/** The genesis hash that a recording names; null without one. Fails when the recording cannot be read. */
export const recordedGenesis = (folder: string): Effect.Effect<string | null, ImportRefused> =>
  Effect.tryPromise({ try: () => genesisIn(folder), catch: refusedBy })
