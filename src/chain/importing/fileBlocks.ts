/**
 * Blocks in files. A folder or a file may hold:
 *
 * - a recording of the service (`*.fathomrec`),
 * - blocks as `getBlock` answers them, one file each, named by the slot (`250000000.json`),
 * - lines of JSON, one block each (`*.ndjson` or `*.jsonl`): `{"slot": 250000000, "block": {...}}`, or the block itself
 *   with a member `slot`.
 *
 * JSON may be compressed with gzip (`.gz`) or Zstandard (`.zst`). A block may be wrapped as the response of a call.
 */
import { Stream } from "effect"
import { createReadStream, promises as files } from "node:fs"
import { basename, join } from "node:path"
import { createGunzip, createZstdDecompress, gunzipSync, zstdDecompressSync } from "node:zlib"
import { parseJson } from "../rpc/accountJson.ts"
import { isCount, isFields } from "../decoding/jsonFields.ts"
import { FORMAT, readEntries } from "../recording/recordEntry.ts"
import { listFiles } from "../recording/recordFiles.ts"
import { ImportRefused, type ImportRange, type SourceBlock } from "./importSource.ts"
import { LineSplitter, MOST_BYTES } from "./LineSplitter.ts"

const LINES = /\.(?:ndjson|jsonl)(?:\.gz|\.zst)?$/u
const ONE = /^(\d{1,12})\.json(?:\.gz|\.zst)?$/u
const RECORDING = /\.fathomrec$/u

const refuse = (detail: string): never => {
  throw new ImportRefused({ detail })
}

/** A block, whether or not it is wrapped as a response; null when it is not one. */
const blockIn = (value: unknown): unknown => {
  const inner = isFields(value) && isFields(value["result"]) ? value["result"] : value
  return isFields(inner) && Array.isArray(inner["transactions"]) ? inner : null
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

const decompressed = (name: string, bytes: Buffer): Buffer => {
  const limits = { maxOutputLength: MOST_BYTES }
  return name.endsWith(".gz")
    ? gunzipSync(bytes, limits)
    : name.endsWith(".zst")
      ? zstdDecompressSync(bytes, limits)
      : bytes
}

async function* textLines(path: string, name: string): AsyncGenerator<string> {
  const raw = createReadStream(path)
  const unpacker = name.endsWith(".gz") ? createGunzip() : name.endsWith(".zst") ? createZstdDecompress() : null
  // `pipe` does not pass a failure on.
  raw.on("error", (error) => unpacker?.destroy(error))
  const splitter = new LineSplitter(name)
  try {
    for await (const bytes of unpacker === null ? raw : raw.pipe(unpacker)) {
      yield* splitter.add(bytes)
    }
    yield splitter.end()
  } finally {
    raw.destroy()
    unpacker?.destroy()
  }
}

async function* linesOf(path: string, name: string): AsyncGenerator<SourceBlock> {
  let [number, before] = [0, -1]
  for await (const text of textLines(path, name)) {
    number += 1
    if (text.trim() !== "") {
      const block = blockOfLine(text, `line ${number} of ${name}`)
      if (block.slot <= before) {
        refuse(`line ${number} of ${name}: slot ${block.slot} comes after slot ${before}; lines have to be in order`)
      }
      before = block.slot
      yield block
    }
  }
}

async function* oneBlock(path: string, name: string): AsyncGenerator<SourceBlock> {
  const answer = blockIn(parseJson(decompressed(name, await files.readFile(path)).toString()))
  const slot = Number(ONE.exec(name)?.[1])
  yield answer === null ? refuse(`${name} is not a block as getBlock answers it`) : { slot, answer }
}

/** The blocks of a recording's files, from the one that has the first wanted slot. */
async function* recordedBlocks(folder: string, { fromSlot, toSlot }: ImportRange): AsyncGenerator<SourceBlock> {
  const listed = await listFiles(folder)
  const later = listed.findIndex(({ slot }) => fromSlot !== null && slot > fromSlot)
  const start = fromSlot === null ? 0 : Math.max(0, (later === -1 ? listed.length : later) - 1)
  let newest = -1
  for (const { path } of listed.slice(start)) {
    for (const entry of readEntries(await files.readFile(path))) {
      if (entry._tag === "Header" && entry.header.format !== FORMAT) {
        refuse(`${basename(path)} has format ${entry.header.format}, and this version reads format ${FORMAT}`)
      }
      // A process that starts again may record a block a second time.
      if (entry._tag === "Block" && entry.block.slot > newest) {
        const { blockTimeEstimated, blockTimeMs, json, slot } = entry.block
        newest = slot
        const answer = parseJson(zstdDecompressSync(json, { maxOutputLength: MOST_BYTES }).toString())
        yield { slot, answer, time: { ms: blockTimeMs, isEstimated: blockTimeEstimated } }
      }
    }
    if (toSlot !== null && newest > toSlot) {
      return
    }
  }
}

/** The genesis hash that a recording names; null without one. */
export const recordedGenesis = async (folder: string): Promise<string | null> => {
  const named = await listFiles(folder).catch(() => [])
  for (const { path } of named) {
    const [first] = readEntries(await files.readFile(path)).take(1)
    if (first?._tag === "Header" && first.header.genesis !== null) {
      return first.header.genesis
    }
  }
  return null
}

const bySlot = (a: string, b: string): number => Number(ONE.exec(a)?.[1]) - Number(ONE.exec(b)?.[1])

async function* folderBlocks(folder: string, range: ImportRange): AsyncGenerator<SourceBlock> {
  const names = await files.readdir(folder)
  const kinds = [RECORDING, ONE, LINES].filter((kind) => names.some((name) => kind.test(name)))
  const [kind] = kinds
  if (kind === undefined || kinds.length > 1) {
    const found = kind === undefined ? "holds no blocks" : "holds blocks in more than one form"
    refuse(`${folder} ${found}: *.fathomrec, <slot>.json or *.ndjson`)
  }
  if (kind === RECORDING) {
    return yield* recordedBlocks(folder, range)
  }
  const listed = names.filter((name) => kind?.test(name)).toSorted(kind === ONE ? bySlot : undefined)
  let newest = -1
  for (const name of listed) {
    // Blocks before the range need not be read. Blocks after it are, until one is found.
    const slot = kind === ONE ? Number(ONE.exec(name)?.[1]) : null
    if (slot !== null && range.fromSlot !== null && slot < range.fromSlot) {
      continue
    }
    for await (const block of kind === ONE ? oneBlock(join(folder, name), name) : linesOf(join(folder, name), name)) {
      if (block.slot <= newest) {
        refuse(`${name}: slot ${block.slot} comes after slot ${newest}; files have to be in order by name`)
      }
      newest = block.slot
      yield block
    }
  }
}

async function* blocksAt(path: string, range: ImportRange): AsyncGenerator<SourceBlock> {
  const name = basename(path)
  if ((await files.stat(path)).isDirectory()) {
    yield* folderBlocks(path, range)
  } else if (LINES.test(name)) {
    yield* linesOf(path, name)
  } else if (ONE.test(name)) {
    yield* oneBlock(path, name)
  } else {
    refuse(`${path} is neither a folder nor named <slot>.json or *.ndjson`)
  }
}

const refusedBy = (error: unknown): ImportRefused =>
  error instanceof ImportRefused
    ? error
    : new ImportRefused({ detail: error instanceof Error ? error.message : "the files cannot be read" })

/** The blocks of files, in the order of the chain. They may begin before the range and go on after it. */
export const fileBlocks = (path: string, range: ImportRange): Stream.Stream<SourceBlock, ImportRefused> =>
  Stream.fromAsyncIterable({ [Symbol.asyncIterator]: () => blocksAt(path, range) }, refusedBy)
