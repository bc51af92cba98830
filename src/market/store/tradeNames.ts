/** The table `trade_names`, as queries: the numbers that stand for mints, pools, venues and launchpads in `trade_rows`. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Result, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"

/** Names in memory. Above this all are forgotten and looked up again. */
const MOST = 500_000

const Row = Schema.Struct({ id: Schema.Number, name: Schema.String })

type NamedRow = typeof Row.Type

const list = (oid: number, values: ReadonlyArray<unknown>) => Result.getOrThrow(PgTypes.array(values, oid))

/** Names and their numbers. A number stands for the same name for good. */
export const makeTradeNames = (sql: SqlClient.SqlClient) => {
  const ids = new Map<string, number>()
  const names = new Map<number, string>()

  const find = SqlSchema.findAll({
    Request: Schema.Array(Schema.String),
    Result: Row,
    execute: (wanted) =>
      sql`select id, name from trade_names where name = any(${list(PgTypes.OID.text, wanted)})`.withoutTransform
  })

  const findById = SqlSchema.findAll({
    Request: Schema.Array(Schema.Number),
    Result: Row,
    execute: (wanted) =>
      sql`select id, name from trade_names where id = any(${list(PgTypes.OID.int4, wanted)})`.withoutTransform
  })

  // In one order, so that two writers wait for each other instead of locking each other out.
  const insert = (wanted: ReadonlyArray<string>) => sql`
    insert into trade_names (name)
    select name from unnest(${list(PgTypes.OID.text, wanted)}) as given (name) order by name
    on conflict do nothing
  `

  const findOrInsert = Effect.fnUntraced(function* (unknown: ReadonlyArray<string>) {
    const found = yield* find(unknown)
    const have = new Set(found.map(({ name }) => name))
    const missing = unknown.filter((name) => !have.has(name))
    if (missing.length === 0) {
      return found
    }
    yield* insert(missing)
    // Another writer may have inserted some of them meanwhile.
    return [...found, ...(yield* find(missing))]
  })

  /** Keeps names in memory. Only committed ones may be kept. */
  const keep = (rows: Iterable<NamedRow>): void => {
    if (ids.size > MOST) {
      ids.clear()
      names.clear()
    }
    for (const { id, name } of rows) {
      ids.set(name, id)
      names.set(id, name)
    }
  }

  /**
   * Numbers the names that have none yet, in the transaction of the caller. Returns the numbers of all of them, and the rows
   * that are not in memory: they are kept once the transaction is committed.
   */
  const number = Effect.fnUntraced(function* (given: Iterable<string>) {
    const numbers = new Map<string, number>()
    const unknown: Array<string> = []
    const wanted = new Set(given)
    for (const name of wanted) {
      const id = ids.get(name)
      if (id === undefined) {
        unknown.push(name)
      } else {
        numbers.set(name, id)
      }
    }
    const fresh = unknown.length === 0 ? [] : yield* findOrInsert(unknown)
    fresh.forEach(({ id, name }) => numbers.set(name, id))
    // No row of names is ever deleted.
    return numbers.size < wanted.size
      ? yield* Effect.die(new Error("a name of a trade has no number"))
      : { numbers, fresh }
  })

  /** Reads the names of numbers that are not in memory. */
  const load = Effect.fnUntraced(function* (unknown: ReadonlySet<number>) {
    if (unknown.size > 0) {
      keep(yield* findById(Array.from(unknown)))
    }
  })

  return {
    keep,
    number,
    load,

    /** The name of a number; undefined when it is not in memory. */
    nameOf: (id: number): string | undefined => names.get(id)
  }
}

/** See `makeTradeNames`. */
export type TradeNames = ReturnType<typeof makeTradeNames>
