/**
 * Queries of the table `trade_names`: the numbers that stand for mints, pools, venues and launchpads in `trade_rows`.
 */
import { Effect, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import { makeTurns } from "../../domain/loopTime.ts"
import { integerArray, textArray } from "./arrays.ts"

/** The most names in memory. Beyond that, all are dropped and looked up again. */
const MOST = 500_000

const Row = Schema.Struct({ id: Schema.Number, name: Schema.String })

type NamedRow = typeof Row.Type

/** Names and their numbers. A number never changes its name. */
export const makeTradeNames = (sql: SqlClient.SqlClient) => {
  const known = { ids: new Map<string, number>(), names: new Map<number, string>() }

  const find = SqlSchema.findAll({
    Request: Schema.Array(Schema.String),
    Result: Row,
    execute: (wanted) => sql`select id, name from trade_names where name = any(${textArray(wanted)})`.withoutTransform
  })

  const findById = SqlSchema.findAll({
    Request: Schema.Array(Schema.Number),
    Result: Row,
    execute: (wanted) => sql`select id, name from trade_names where id = any(${integerArray(wanted)})`.withoutTransform
  })

  // In one order, so that two writers wait for each other instead of deadlocking.
  const insert = (wanted: ReadonlyArray<string>) => sql`
    insert into trade_names (name)
    select name from unnest(${textArray(wanted)}) as given (name) order by name
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

  /**
   * Keeps names in memory. Only committed names are kept. Full maps are replaced instead of cleared: a caller of `number` may
   * still read them.
   */
  const keep = (rows: Iterable<NamedRow>): void => {
    if (known.ids.size > MOST) {
      known.ids = new Map()
      known.names = new Map()
    }
    for (const { id, name } of rows) {
      known.ids.set(name, id)
      known.names.set(id, name)
    }
  }

  /**
   * Returns a map with the number of every name of the items; it may hold other names too. A new name gets a number, which is
   * committed at once. So it must not run in a transaction, which might be rolled back.
   */
  const number = Effect.fnUntraced(function* <A>(
    items: ReadonlyArray<A>,
    namesOf: (item: A) => ReadonlyArray<string | null>
  ) {
    const turns = yield* makeTurns
    const { ids } = known
    const unknown = new Set<string>()
    yield* turns.visit(items, (item) => {
      for (const name of namesOf(item)) {
        if (name !== null && !ids.has(name)) {
          unknown.add(name)
        }
      }
    })
    if (unknown.size > 0) {
      const fresh = yield* findOrInsert(Array.from(unknown))
      // Decoding the answer took a while already.
      yield* turns.pause
      yield* turns.visit(fresh, (row) => {
        ids.set(row.name, row.id)
        unknown.delete(row.name)
        keep([row])
      })
    }
    // No row of names is ever deleted.
    return unknown.size > 0 ? yield* Effect.die(new Error("a name of a trade has no number")) : ids
  })

  /** Reads the names of numbers that are not in memory. */
  const load = Effect.fnUntraced(function* (unknown: ReadonlySet<number>) {
    if (unknown.size > 0) {
      keep(yield* findById(Array.from(unknown)))
    }
  })

  return {
    number,
    load,

    /** The name of a number; undefined when it is not in memory. */
    nameOf: (id: number): string | undefined => known.names.get(id)
  }
}

/** See `makeTradeNames`. */
export type TradeNames = ReturnType<typeof makeTradeNames>
