/** Queries of the tables `market_snapshots` and `market_snapshot_parts`: the newest snapshot of every chain. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema, Stream } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import type { TradeStoreUnavailable } from "../../api/schemas/Trade.ts"
import type { Broken } from "../../storage/deadline.ts"
import type { SnapshotContent, StoredSnapshot } from "../model/StoredSnapshot.ts"

const Row = Schema.Struct({
  id: Schema.String,
  layout: Schema.String,
  slot: Schema.Number,
  slotAt: Schema.Date,
  repairs: Schema.Number,
  parts: Schema.Number,
  size: Schema.Number,
  bytes: Schema.Number
})

const Content = Schema.Struct({ content: Schema.Uint8Array })

export const makeSnapshotTable = (sql: SqlClient.SqlClient) => {
  const ofChain = SqlSchema.findAll({
    Request: Schema.Number,
    Result: Row,
    execute: (chain) => sql`
      select id, layout, slot, slot_at, repairs, parts, size::float8 as size, bytes::float8 as bytes
      from market_snapshots where chain = ${chain}
    `
  })

  const contents = SqlSchema.findAll({
    Request: Schema.Struct({ chain: Schema.Number, id: Schema.String, number: Schema.Number }),
    Result: Content,
    execute: ({ chain, id, number }) => sql`
      select content from market_snapshot_parts
      where chain = ${chain} and snapshot = ${id} and number = ${number}
    `
  })

  const current = SqlSchema.findAll({
    Request: Schema.Struct({ chain: Schema.Number, repairs: Schema.Number, slot: Schema.Number }),
    Result: Schema.Struct({ id: Schema.Number }),
    execute: ({ chain, repairs, slot }) => sql`
      select id from chains where id = ${chain} and repairs = ${repairs}::int and slot >= ${slot}::int for update
    `
  })

  const countOf = SqlSchema.findAll({
    Request: Schema.Struct({ chain: Schema.Number, id: Schema.String }),
    Result: Schema.Struct({ parts: Schema.Number }),
    execute: ({ chain, id }) => sql`
      select count(*)::int as parts from market_snapshot_parts where chain = ${chain} and snapshot = ${id}
    `
  })

  return {
    /** The snapshot of a chain; null when there is none. */
    of: (chain: number): Effect.Effect<StoredSnapshot | null, Broken> =>
      Effect.map(ofChain(chain), ([row]) => {
        if (row === undefined) {
          return null
        }
        const { slotAt, ...rest } = row
        return { ...rest, timeMs: slotAt.getTime() }
      }),

    /** A part of a snapshot; null once another has replaced it. */
    part: Effect.fnUntraced(function* (chain: number, id: string, number: number) {
      const [row] = yield* contents({ chain, id, number })
      return row?.content ?? null
    }),

    /** Adds a part of a snapshot that is not in use yet. */
    addPart: (chain: number, id: string, number: number, content: Uint8Array) => sql`
      insert into market_snapshot_parts (chain, snapshot, number, content)
      values (${chain}, ${id}, ${number}::int, ${PgTypes.bytea(content)})
    `,

    /** Deletes the parts of a snapshot that is not in use. */
    dropParts: (chain: number, id: string) => sql`
      delete from market_snapshot_parts
      where chain = ${chain} and snapshot = ${id}
        and not exists (select 1 from market_snapshots where chain = ${chain} and id = ${id})
    `,

    /**
     * Replaces the snapshot of a chain with one whose parts are stored. Run it in a transaction. Returns false and
     * deletes the parts when the chain's count of repairs differs, when blocks of the snapshot are not stored, or when
     * another writer has deleted some parts.
     */
    use: Effect.fnUntraced(function* (chain: number, snapshot: StoredSnapshot) {
      const { bytes, id, layout, parts, repairs, size, slot, timeMs } = snapshot
      const [held] = yield* current({ chain, repairs, slot })
      const [added] = yield* countOf({ chain, id })
      if (held === undefined || added?.parts !== parts) {
        yield* sql`delete from market_snapshot_parts where chain = ${chain} and snapshot = ${id}`
        return false
      }
      yield* sql`
        insert into market_snapshots (chain, id, layout, slot, slot_at, repairs, parts, size, bytes)
        values (
          ${chain}, ${id}, ${layout}, ${slot}::int, ${PgTypes.timestamptz(timeMs)}, ${repairs}::int, ${parts}::int,
          ${size}::float8, ${bytes}::float8
        )
        on conflict (chain) do update set
          id = excluded.id, layout = excluded.layout, slot = excluded.slot, slot_at = excluded.slot_at,
          repairs = excluded.repairs, parts = excluded.parts, size = excluded.size, bytes = excluded.bytes
      `
      yield* sql`delete from market_snapshot_parts where chain = ${chain} and snapshot <> ${id}`
      return true
    })
  }
}

/** How much longer a stop may take to delete the parts of a failed snapshot. */
const DROP_LIMIT = "2 seconds"

type SnapshotTable = ReturnType<typeof makeSnapshotTable>

/** Puts a query under its deadline. */
type Bound = <A>(effect: Effect.Effect<A, Broken>) => Effect.Effect<A, TradeStoreUnavailable>

/**
 * Stores the parts of a snapshot beside the snapshot in use, then swaps the two in `replace`, a transaction of the
 * chain's writer. Returns the new snapshot; null when the stored trades no longer match it. Deletes its parts when it
 * fails or is interrupted.
 */
export const keepSnapshotIn = Effect.fnUntraced(function* (
  table: SnapshotTable,
  chain: number,
  { parts, size, state }: SnapshotContent,
  bound: Bound,
  replace: (step: ReturnType<SnapshotTable["use"]>) => Effect.Effect<boolean, TradeStoreUnavailable>
) {
  const id = crypto.randomUUID()
  const kept = { parts: 0, bytes: 0 }
  const drop = Effect.interruptible(Effect.ignore(bound(table.dropParts(chain, id)))).pipe(
    Effect.timeoutOption(DROP_LIMIT)
  )
  const store = Stream.runForEach(parts, (content) =>
    Effect.suspend(() => {
      const number = kept.parts++
      kept.bytes += content.length
      return bound(table.addPart(chain, id, number, content))
    })
  )
  const use = Effect.suspend(() => {
    const snapshot: StoredSnapshot = { ...state, ...kept, id, size }
    return Effect.map(replace(table.use(chain, snapshot)), (isUsed) => (isUsed ? snapshot : null))
  })
  return yield* Effect.onError(Effect.andThen(store, use), () => drop)
})
