/** The tables of trades in memory: inserts with their tokens, and the questions that the writer of blocks asks. */
import { Effect, Stream } from "effect"
import { readTrade } from "../../../src/market/history/tradeColumns.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { ClickHouse, ClickHouseUnavailable } from "../../../src/storage/clickhouse/ClickHouse.ts"
import { readRows, RowWriter } from "../../../src/storage/clickhouse/RowBinary.ts"

/** A row of `trades`. */
interface Row {
  readonly trade: TapeTrade
  readonly version: bigint
}

/** `refuses`: nothing is carried out; `loses`: inserts are, and their answers are lost. */
export type Mood = "answers" | "loses" | "refuses"

const lost = Effect.fail(new ClickHouseUnavailable({ cause: new Error("no answer") }))

/** Empty tables, and the client of them. */
export const makeTables = () => {
  const tables = {
    mood: "answers" as Mood,
    /** Statements that were run, without inserts. */
    asked: new Array<string>(),
    /** Tables and tokens of the inserts that were sent. */
    sent: new Array<string>(),
    /** By place. */
    trades: new Map<string, Row>(),
    /** Trades that candles have counted. */
    counted: 0
  }
  const tokens = new Set<string>()

  const insert: ClickHouse["Service"]["insert"] = ({ rows, table, token }) =>
    Effect.suspend(() => {
      tables.sent.push(`${table} ${token}`)
      if (tables.mood === "refuses") {
        return lost
      }
      if (!tokens.has(`${table} ${token}`) && table === "trades") {
        const inserted = readRows(rows, (row): Row => {
          const trade = readTrade(row)
          row.nullable(() => row.float64())
          row.nullable(() => row.uint64())
          row.text()
          return { trade, version: row.uint64() }
        })
        for (const row of inserted) {
          const place = `${row.trade.slot}.${row.trade.index}`
          const known = tables.trades.get(place)
          if (known === undefined || known.version <= row.version) {
            tables.trades.set(place, row)
          }
          tables.counted += row.version === 0n ? 1 : 0
        }
      }
      tokens.add(`${table} ${token}`)
      return tables.mood === "loses" ? lost : Effect.void
    })

  const answer = (query: string): Uint8Array => {
    const row = new RowWriter()
    const rows = Array.from(tables.trades.values())
    if (query.includes("SELECT slot, place FROM trades")) {
      rows.forEach(({ trade }) => (row.uint32(trade.slot), row.uint32(trade.index)))
    } else if (query.includes("max(slot)")) {
      row.uint32(rows.reduce((newest, { trade }) => Math.max(newest, trade.slot), 0))
    } else if (query.includes("max(at)")) {
      row.int64(BigInt(rows.reduce((newest, { trade }) => Math.max(newest, trade.timeMs), 0)))
    } else if (query.includes("max(version)")) {
      row.uint64(rows.reduce((latest, { version }) => (version > latest ? version : latest), 0n))
    }
    return row.written
  }

  const read: ClickHouse["Service"]["read"] = (query) =>
    Effect.suspend(() => {
      tables.asked.push(query)
      return tables.mood === "refuses" ? lost : Effect.succeed(answer(query))
    })

  return {
    tables,
    client: ClickHouse.of({
      insert,
      read,
      stream: (query, deadline) => Stream.fromEffect(read(query, deadline)),
      run: (statement, deadline) =>
        Effect.map(read(statement, deadline), () => {
          // Candles of all trades are made anew.
          if (statement.startsWith("INSERT INTO minute_bars") && !statement.includes("mint IN")) {
            tables.counted = tables.trades.size
          }
        })
    })
  }
}
