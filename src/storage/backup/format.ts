/**
 * The format of a backup: lines of JSON, compressed with zstd. First a header. Then, for each table, lines of rows and
 * a line with their number and hash. Last, a line with the hash of everything before it.
 */
import { type Effect, Schema } from "effect"

/** Raise it when a reader of the previous format could misread a file. */
export const FORMAT_VERSION = 1

const Table = Schema.Struct({
  name: Schema.String,
  /** Name and type of each column, in the order of the row text. */
  columns: Schema.Array(Schema.String)
})

const Partition = Schema.Struct({
  name: Schema.String,
  parent: Schema.String,
  /** The outermost parent table. */
  root: Schema.String,
  /** `FOR VALUES ...` as PostgreSQL prints it. */
  bound: Schema.String,
  /** Partition key, when the partition is partitioned further. */
  key: Schema.NullOr(Schema.String),
  /** Indexes that the parent does not have. `USING ...` is as PostgreSQL prints it. */
  indexes: Schema.Array(Schema.Struct({ name: Schema.String, isUnique: Schema.Boolean, using: Schema.String }))
})

/** What a database holds besides its rows and what its migrations create. */
export const Catalogue = Schema.Struct({
  /** Tables that are not partitions. A table comes after the tables that its foreign keys refer to. */
  tables: Schema.Array(Table),
  /** Parents come before their partitions. */
  partitions: Schema.Array(Partition),
  /** Sequences that have been used, with their last values. */
  sequences: Schema.Array(Schema.Struct({ name: Schema.String, last: Schema.String }))
})
export type Catalogue = typeof Catalogue.Type

/** The first line. */
export const Header = Schema.Struct({
  format: Schema.Literal("fathom-backup"),
  version: Schema.Int,
  /** Version of the service that wrote the file. */
  service: Schema.String,
  /** When the backup's state was taken, ISO 8601. */
  at: Schema.String,
  migrations: Schema.Array(Schema.String),
  ...Catalogue.fields
})
export type Header = typeof Header.Type

/** Rows of one table, each printed by PostgreSQL as one composite value. */
export const Rows = Schema.Struct({ table: Schema.String, rows: Schema.Array(Schema.String) })

/** Ends a table: number of rows, and SHA-256 of their texts with a line feed after each. */
export const TableEnd = Schema.Struct({ end: Schema.String, count: Schema.Int, sha256: Schema.String })

/** The last line: number of all rows, and SHA-256 of all lines before it. */
export const Complete = Schema.Struct({ complete: Schema.Literal(true), count: Schema.Int, sha256: Schema.String })

/** Decodes any line of a backup. */
export const decodeLine = Schema.decodeUnknownEffect(
  Schema.fromJsonString(Schema.Union([Rows, TableEnd, Complete, Header]))
)

/** A backup could not be made, read or restored. `detail` says why. */
export class BackupFailed extends Schema.TaggedError<BackupFailed>()("BackupFailed", {
  file: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `${this.file}: ${this.detail}`
  }
}

export interface BackupSummary {
  readonly header: Header
  readonly count: number
}

/** Takes a progress message for each step of a long run. */
export type Progress = (text: string) => Effect.Effect<void>
