/**
 * The format of a backup: lines of JSON, compressed with zstd. First a header. Then, for each table, lines of rows and
 * a line with their number and hash. Last, a line with the hash of everything before it.
 */
import { type Effect, Schema } from "effect"

/** Increased when a reader of the earlier format could misread a file. */
export const FORMAT_VERSION = 1

const Table = Schema.Struct({
  name: Schema.String,
  /** Name and type of each column, in the order of the row text. */
  columns: Schema.Array(Schema.String)
})

const Partition = Schema.Struct({
  name: Schema.String,
  parent: Schema.String,
  /** The outermost table, whose rows it holds. */
  root: Schema.String,
  /** `FOR VALUES ...` as PostgreSQL prints it. */
  bound: Schema.String,
  /** Partition key, if the partition has partitions itself. */
  key: Schema.NullOr(Schema.String),
  /** Indexes that the parent does not have: `USING ...` as PostgreSQL prints it. */
  indexes: Schema.Array(Schema.Struct({ name: Schema.String, isUnique: Schema.Boolean, using: Schema.String }))
})

/** What a database has besides its rows and the work of its migrations. */
export const Catalogue = Schema.Struct({
  /** Tables without partitions. A table comes after the tables that its foreign keys name. */
  tables: Schema.Array(Table),
  /** Parents first. */
  partitions: Schema.Array(Partition),
  /** Sequences in use, with their last value. */
  sequences: Schema.Array(Schema.Struct({ name: Schema.String, last: Schema.String }))
})
export type Catalogue = typeof Catalogue.Type

/** The first line. */
export const Header = Schema.Struct({
  format: Schema.Literal("fathom-backup"),
  version: Schema.Int,
  /** Version of the service that wrote the file. */
  service: Schema.String,
  /** Time of the state, ISO 8601. */
  at: Schema.String,
  migrations: Schema.Array(Schema.String),
  ...Catalogue.fields
})
export type Header = typeof Header.Type

/** Rows, each as PostgreSQL prints it as one composite value. */
export const Rows = Schema.Struct({ table: Schema.String, rows: Schema.Array(Schema.String) })

/** The end of a table: number of rows, and SHA-256 of their texts, each followed by a line feed. */
export const TableEnd = Schema.Struct({ end: Schema.String, count: Schema.Int, sha256: Schema.String })

/** The last line: rows of all tables, and SHA-256 of all lines before it. */
export const Complete = Schema.Struct({ complete: Schema.Literal(true), count: Schema.Int, sha256: Schema.String })

/** Any line. */
export const decodeLine = Schema.decodeUnknownEffect(
  Schema.fromJsonString(Schema.Union([Rows, TableEnd, Complete, Header]))
)

/** A backup cannot be made, read or restored; `detail` is the reason. */
export class BackupFailed extends Schema.TaggedError<BackupFailed>()("BackupFailed", {
  file: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `${this.file}: ${this.detail}`
  }
}

/** Summary of a backup. */
export interface BackupSummary {
  readonly header: Header
  readonly count: number
}

/** Receives one line of text for each step of a long run. */
export type Progress = (text: string) => Effect.Effect<void>
