/** Reads backups, and checks order, counts and hashes on the way. Nothing else reads them. */
import { Effect, Schema, Stream } from "effect"
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { pipeline } from "node:stream"
import { createZstdDecompress } from "node:zlib"
import { BackupFailed, type BackupSummary, decodeLine, FORMAT_VERSION, Header } from "./format.ts"

/**
 * The longest line that is accepted. A line has about a mebibyte; a single row of PostgreSQL may be longer, but not
 * longer than this.
 */
const LONGEST_LINE = 2 ** 28

const LINE_FEED = 10

/** The lines of a compressed file, without their line feeds. Text after the last line feed counts as a line. */
async function* linesOf(file: string): AsyncGenerator<Buffer> {
  const source = pipeline(createReadStream(file), createZstdDecompress(), () => undefined)
  let held: Array<Buffer> = []
  let size = 0
  for await (const chunk of source as AsyncIterable<Buffer>) {
    let from = 0
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, from)) {
      yield Buffer.concat([...held, chunk.subarray(from, at)])
      held = []
      size = 0
      from = at + 1
    }
    held.push(chunk.subarray(from))
    size += chunk.length - from
    if (size > LONGEST_LINE) {
      throw new Error("a line is too long")
    }
  }
  if (size > 0) {
    yield Buffer.concat(held)
  }
}

/** What to do with each part, in the order of the file. */
export interface BackupReader<E, R> {
  readonly onHeader: (header: Header) => Effect.Effect<void, E, R>
  readonly onRows: (table: string, rows: ReadonlyArray<string>) => Effect.Effect<void, E, R>
  readonly onTable: (table: string, count: number) => Effect.Effect<void, E, R>
}

const decodeText = (bytes: Buffer): string => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)

const isHeader = Schema.is(Header)

/**
 * Reads a backup from beginning to end. Fails with `BackupFailed` when the file is cut off, altered, in a later
 * format or not a backup. The reader may already have seen some rows by then.
 */
export const readBackup = Effect.fnUntraced(function* <E, R>(file: string, reader: BackupReader<E, R>) {
  const fail = (detail: string) => new BackupFailed({ file, detail })
  const damaged = (cause: unknown) =>
    fail(`the file is cut, altered or no backup (${cause instanceof Error ? cause.message : String(cause)})`)
  const whole = createHash("sha256")
  let part = createHash("sha256")
  let partCount = 0
  let count = 0
  let header: Header | undefined
  let tablesDone = 0
  let isComplete = false

  const openTable = () => header?.tables[tablesDone]?.name

  const step = Effect.fnUntraced(function* (bytes: Buffer) {
    if (isComplete) {
      return yield* damaged("there are lines behind the last one")
    }
    const text = yield* Effect.try({ try: () => decodeText(bytes), catch: damaged })
    const line = yield* Effect.mapError(decodeLine(text), () => damaged("a line cannot be read"))
    if (isHeader(line)) {
      if (header !== undefined) {
        return yield* damaged("there is a second header")
      }
      if (line.version > FORMAT_VERSION) {
        return yield* fail(`it has format ${line.version}, this version reads up to ${FORMAT_VERSION}`)
      }
      header = line
      yield* reader.onHeader(line)
    } else if ("rows" in line) {
      if (line.table !== openTable()) {
        return yield* damaged(`rows of ${line.table} are out of order`)
      }
      line.rows.forEach((row) => part.update(row).update("\n"))
      partCount += line.rows.length
      yield* reader.onRows(line.table, line.rows)
    } else if ("end" in line) {
      if (line.end !== openTable() || line.count !== partCount || line.sha256 !== part.digest("hex")) {
        return yield* damaged(`the rows of ${line.end} do not match their hash`)
      }
      yield* reader.onTable(line.end, partCount)
      tablesDone++
      count += partCount
      partCount = 0
      part = createHash("sha256")
    } else {
      const isWhole = header !== undefined && tablesDone === header.tables.length
      if (!isWhole || line.count !== count || line.sha256 !== whole.digest("hex")) {
        return yield* damaged("the lines do not match their hash")
      }
      isComplete = true
      return
    }
    whole.update(bytes).update("\n")
  })

  yield* Stream.runForEach(Stream.fromAsyncIterable(linesOf(file), damaged), step)
  if (header === undefined || !isComplete) {
    return yield* damaged("its last line is missing")
  }
  return { header, count } satisfies BackupSummary
})

/** Checks that a backup is complete and unaltered. Needs no database. */
export const verifyBackup = (file: string): Effect.Effect<BackupSummary, BackupFailed> =>
  readBackup(file, { onHeader: () => Effect.void, onRows: () => Effect.void, onTable: () => Effect.void })
