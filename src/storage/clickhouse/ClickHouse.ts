/**
 * The ClickHouse server that holds the history of trades. This file imports no client: `ClickHouseHttp.ts` is loaded
 * only when `CLICKHOUSE_URL` is set.
 */
import { Config, Context, Duration, type Effect, Option, Schema, type Stream } from "effect"
import { countSetting, durationSetting } from "../../domain/countSetting.ts"

/**
 * The server cannot be reached, refused a statement, or did not answer in time. An insert may or may not have
 * happened.
 */
export class ClickHouseUnavailable extends Schema.TaggedError<ClickHouseUnavailable>()("ClickHouseUnavailable", {
  cause: Schema.Defect()
}) {
  override get message(): string {
    return "ClickHouse does not answer"
  }
}

/** Rows to insert, in RowBinary. */
export interface Insert {
  readonly table: string
  readonly columns: string
  readonly rows: Uint8Array
  /** Names the rows. A second insert with the same token has no effect, also on materialized views. */
  readonly token: string
}

/**
 * Sends statements to the server. Statements have no parameters: bytes are written as hexadecimal digits
 * (`sqlBytes`). Nothing is retried here.
 */
export class ClickHouse extends Context.Service<
  ClickHouse,
  {
    /** The rows of a query in RowBinary, streamed as they arrive. */
    stream(query: string, deadline: Duration.Duration): Stream.Stream<Uint8Array, ClickHouseUnavailable>
    /** The rows of a query in RowBinary. */
    read(query: string, deadline: Duration.Duration): Effect.Effect<Uint8Array, ClickHouseUnavailable>
    /** Runs a statement without an answer. */
    run(statement: string, deadline: Duration.Duration): Effect.Effect<void, ClickHouseUnavailable>
    insert(insert: Insert, deadline: Duration.Duration): Effect.Effect<void, ClickHouseUnavailable>
  }
>()("fathom/storage/clickhouse/ClickHouse") {}

/** `CLICKHOUSE_URL`: `http:` or `https:`, with user, password, port and database. The database must exist. */
export const clickHouseUrl: Config.Config<Option.Option<string>> = Config.option(
  Config.schema(
    Schema.String.check(
      Schema.makeFilter(
        (text) =>
          (/^https?:\/\/[^/]+\/\w+$/u.test(text) && URL.canParse(text)) ||
          "must be an address with a database, such as http://user:password@host:8123/fathom"
      )
    ),
    "CLICKHOUSE_URL"
  )
)

const MIB = 2 ** 20
const LEAST_SPOOL_MIB = 16

const days = (name: string, byDefault: number) =>
  durationSetting(name).pipe(Config.withDefault(Duration.days(byDefault)))

/** A volume name is written into a statement, so only plain characters are allowed. */
const volume = Config.option(
  Config.schema(
    Schema.String.check(Schema.makeFilter((text) => /^\w+$/u.test(text) || "must be the name of a volume")),
    "CLICKHOUSE_COLD_VOLUME"
  )
)

/**
 * `CLICKHOUSE_TRADES_KEPT` (90 days), `CLICKHOUSE_COLD_VOLUME` with `CLICKHOUSE_COLD_AFTER` (7 days), `CLICKHOUSE_SPOOL` (a
 * folder in `DATA_DIR`) and `CLICKHOUSE_SPOOL_MIB` (1024).
 */
export const clickHouseSettings = Config.all({
  kept: days("CLICKHOUSE_TRADES_KEPT", 90),
  coldVolume: Config.map(volume, Option.getOrNull),
  coldAfter: days("CLICKHOUSE_COLD_AFTER", 7),
  spool: Config.map(Config.option(Config.String("CLICKHOUSE_SPOOL")), Option.getOrNull),
  spoolBytes: Config.map(countSetting("CLICKHOUSE_SPOOL_MIB", 1024, LEAST_SPOOL_MIB), (mib) => mib * MIB)
})

export type ClickHouseSettings = Config.Success<typeof clickHouseSettings>

/** Bytes, as an expression for a statement. */
export const sqlBytes = (bytes: Uint8Array): string => `unhex('${Buffer.from(bytes).toString("hex")}')`

/** Text, as an expression for a statement. */
export const sqlText = (text: string): string => sqlBytes(new TextEncoder().encode(text))
