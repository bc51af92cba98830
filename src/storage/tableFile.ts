/** Files of rows, written piece by piece: Parquet, CSV and lines of JSON. */
import { Effect, Schema, type Scope } from "effect"
import { fileWriter, ParquetWriter } from "hyparquet-writer"
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs"
import { fromAtomic } from "../domain/decimal.ts"

/**
 * What a column holds. `integer`: at most 2^31. `units`: a whole number below 2^64. `nanos`: billionths of a dollar or of
 * SOL, written as a decimal of nine places. `number`: a double. `time`: milliseconds since the Unix epoch.
 */
type ColumnKind = "text" | "integer" | "units" | "nanos" | "number" | "flag" | "time"

/** A value of a column; null when it is unknown. `units` and `nanos` are bigints. */
type Cell = string | number | bigint | boolean | null

export interface Column<Row> {
  readonly name: string
  readonly kind: ColumnKind
  readonly of: (row: Row) => Cell
}

/** Decimal places of dollars and SOL. */
const PLACES = 9

/** A cell as text: exact decimals, times in ISO 8601; null stays null. */
const textOf = (kind: ColumnKind, cell: Cell): string | null => {
  if (cell === null) {
    return null
  }
  if (typeof cell === "bigint") {
    return kind === "nanos" ? fromAtomic(cell, PLACES) : cell.toString()
  }
  return kind === "time" && typeof cell === "number" ? new Date(cell).toISOString() : String(cell)
}

/** Kinds of files. */
export const formats = ["parquet", "csv", "ndjson"] as const
export type Format = (typeof formats)[number]

/** An export that cannot be made. */
export class ExportFailed extends Schema.TaggedError<ExportFailed>()("ExportFailed", { detail: Schema.String }) {
  override get message(): string {
    return this.detail
  }
}

/** A file that is being written. `finish` adds what is known of the rows, where the kind of file has a place for it. */
export interface TableFile<Row> {
  readonly write: (rows: ReadonlyArray<Row>) => void
  readonly finish: (about: Readonly<Record<string, string>>) => void
}

/** Rows of a group in a Parquet file. One group is in memory. */
const GROUP_ROWS = 100_000

type Element = ConstructorParameters<typeof ParquetWriter>[0]["schema"][number]

const typeOf: Record<ColumnKind, Omit<Element, "name">> = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  integer: { type: "INT32" },
  units: { type: "INT64", converted_type: "UINT_64" },
  nanos: { type: "FIXED_LEN_BYTE_ARRAY", type_length: 16, converted_type: "DECIMAL", precision: 38, scale: PLACES },
  number: { type: "DOUBLE" },
  flag: { type: "BOOLEAN" },
  time: { type: "INT64", converted_type: "TIMESTAMP_MILLIS" }
}

const parquet = <Row>(path: string, columns: ReadonlyArray<Column<Row>>): TableFile<Row> => {
  const writer = fileWriter(path)
  const schema: Array<Element> = [
    { name: "root", num_children: columns.length },
    ...columns.map(({ kind, name }): Element => ({ name, repetition_type: "OPTIONAL", ...typeOf[kind] }))
  ]
  const file = new ParquetWriter({ writer, schema, createdBy: "fathom" })
  let waiting: Array<Row> = []
  const group = () => {
    if (waiting.length > 0) {
      const rows = waiting
      waiting = []
      void file.write({
        columnData: columns.map(({ name, of }) => ({ name, data: rows.map(of) })),
        rowGroupSize: rows.length
      })
    }
  }
  return {
    write: (rows) => {
      for (const row of rows) {
        waiting.push(row)
        if (waiting.length === GROUP_ROWS) {
          group()
        }
      }
    },
    finish: (about) => {
      group()
      file.kvMetadata = Object.entries(about).map(([key, value]) => ({ key, value }))
      void file.finish()
    }
  }
}

const quoted = (text: string): string => (/[",\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

const lines = <Row>(path: string, head: string, lineOf: (row: Row) => string): TableFile<Row> => {
  const fd = openSync(path, "w", 0o600)
  writeSync(fd, head)
  return {
    write: (rows) => {
      const bytes = Buffer.from(rows.map((row) => `${lineOf(row)}\n`).join(""))
      for (let at = 0; at < bytes.length;) {
        at += writeSync(fd, bytes, at)
      }
    },
    finish: () => closeSync(fd)
  }
}

const csv = <Row>(path: string, columns: ReadonlyArray<Column<Row>>) =>
  lines<Row>(path, `${columns.map(({ name }) => name).join(",")}\n`, (row) =>
    columns.map(({ kind, of }) => quoted(textOf(kind, of(row)) ?? "")).join(",")
  )

/** Amounts are text in JSON, because a number there has 53 bits. */
const jsonOf = (kind: ColumnKind, cell: Cell): string | number | boolean | null =>
  typeof cell === "bigint" || kind === "time" ? textOf(kind, cell) : cell

const ndjson = <Row>(path: string, columns: ReadonlyArray<Column<Row>>) =>
  lines<Row>(path, "", (row) =>
    JSON.stringify(Object.fromEntries(columns.map(({ kind, name, of }) => [name, jsonOf(kind, of(row))])))
  )

const makers = { parquet, csv, ndjson }

const settle = (part: string, path: string): void => {
  const fd = openSync(part, "r")
  fsyncSync(fd)
  closeSync(fd)
  renameSync(part, path)
}

/**
 * Opens a new file. It is called `PATH.part` until it is finished, and the scope removes it when it is not. Fails when the
 * file exists or cannot be written.
 */
export const openTableFile = <Row>(
  path: string,
  format: Format,
  columns: ReadonlyArray<Column<Row>>
): Effect.Effect<
  {
    readonly write: (rows: ReadonlyArray<Row>) => Effect.Effect<void, ExportFailed>
    readonly finish: (about: Readonly<Record<string, string>>) => Effect.Effect<void, ExportFailed>
  },
  ExportFailed,
  Scope.Scope
> =>
  Effect.gen(function* () {
    const part = `${path}.part`
    const attempt = <A>(run: () => A) =>
      Effect.try({
        try: run,
        catch: (cause) =>
          new ExportFailed({ detail: `${path}: ${cause instanceof Error ? cause.message : String(cause)}` })
      })
    if (existsSync(path)) {
      return yield* new ExportFailed({ detail: `${path}: the file exists already` })
    }
    yield* Effect.addFinalizer(() => Effect.ignore(attempt(() => rmSync(part, { force: true }))))
    const file = yield* attempt(() => makers[format]<Row>(part, columns))
    return {
      write: (rows) => attempt(() => file.write(rows)),
      finish: (about) =>
        attempt(() => {
          file.finish(about)
          settle(part, path)
        })
    }
  })
