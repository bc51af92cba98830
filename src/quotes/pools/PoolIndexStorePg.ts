/** The index of pools in PostgreSQL. Every query has a deadline. */
import { PgTypes } from "@effect/sql-pg"
import { Duration, Effect, Layer, Result, Schema, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { Address, addressFromBytes, addressToBytes, type Mint } from "../../domain/Address.ts"
import { bounded, type Broken } from "../../storage/deadline.ts"
import { transaction } from "../../storage/transaction.ts"
import { NOT_INDEXED } from "./PoolIndex.ts"
import {
  type IndexedProgram,
  PoolIndexStore,
  PoolIndexStoreUnavailable,
  type PoolIndexWriter,
  TermEnded
} from "./PoolIndexStore.ts"
import type { EntryPart, PoolEntries } from "./PoolEntries.ts"

/** Requests wait for reads. Only the process that keeps the index waits for writes. */
const READ_DEADLINE = Duration.seconds(2)
const WRITE_DEADLINE = Duration.seconds(60)

/** Name of the row in `writer_terms`. */
const TERMS = "pool_index"
/** A writer that hangs in a transaction for this long loses it, so that the next writer need not wait. */
const WRITER_SILENCE = "30s"

/** More than there are programs. A program without a pool of the mint still has one row in the result. */
const MOST_PROGRAMS = 64

const unavailable = (cause: unknown) => new PoolIndexStoreUnavailable({ cause })

const Programs = Schema.Array(
  Schema.Struct({
    id: Schema.Int,
    programId: Address,
    isWhole: Schema.Boolean,
    through: Schema.Int,
    entries: Schema.Int
  })
)
const decodePrograms = Schema.decodeUnknownEffect(Programs)
const decodePools = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ programId: Address, pool: Schema.NullOr(Schema.Uint8Array) }))
)
const decodeTerms = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ term: Schema.Int })))
const decodeCounts = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ entries: Schema.Int })))

/** Cannot fail, because the codecs are known. */
const list = (oid: number, values: ReadonlyArray<unknown>) => Result.getOrThrow(PgTypes.array(values, oid))
const texts = (values: ReadonlyArray<string>) => list(PgTypes.OID.text, values)

/** Runs transactions one at a time. */
type Transact = <A>(
  effect: Effect.Effect<A, Broken | TermEnded>
) => Effect.Effect<A, PoolIndexStoreUnavailable | TermEnded>

const makeWriter = (sql: SqlClient.SqlClient, transact: Transact): PoolIndexWriter => {
  const ids = new Map<Address, number>()

  const insert = (part: EntryPart, programs: ReadonlyArray<Address>, slot: number) => sql`
    with stored as (
      insert into indexed_pools as known (mint, pool, program, seen_slot)
      select distinct on (mint, pool) mint, pool, program, ${slot}::integer from (
        select
          substring(${PgTypes.bytea(part.mints)} from (32 * place - 31)::integer for 32) as mint,
          substring(${PgTypes.bytea(part.pools)} from (32 * place - 31)::integer for 32) as pool,
          program
        from unnest(${list(
          PgTypes.OID.int2,
          part.programs.map((place) => ids.get(programs[place] as Address) ?? 0)
        )}) with ordinality as listed (program, place)
      ) as entries
      order by mint, pool
      on conflict (mint, pool) do update set program = excluded.program, seen_slot = excluded.seen_slot
      where known.seen_slot < excluded.seen_slot
      -- A row without a deleting transaction is a new one.
      returning program, xmax = 0 as is_new
    )
    update indexed_programs set entries = entries + added
    from (select program, count(*)::integer as added from stored where is_new group by program) as counted
    where id = counted.program
  `

  const insertAll = (entries: PoolEntries, slot: number) =>
    Effect.forEach(entries.parts(), (part) => insert(part, entries.programs, slot), { discard: true })

  return {
    open: Effect.fn("PoolIndexStore.open")(function* (genesis, programs) {
      const rows = yield* transact(
        Effect.gen(function* () {
          const foreign = yield* sql`delete from indexed_programs where genesis <> ${genesis} returning id`
          if (foreign.length > 0) {
            yield* sql`truncate indexed_pools`
          }
          yield* sql`
              insert into indexed_programs as known (program_id, genesis, listing)
              select program_id, ${genesis}::text, listing
              from unnest(${texts(Array.from(programs.keys()))}, ${texts(Array.from(programs.values()))})
                as wanted (program_id, listing)
              on conflict (program_id) do update set
                is_whole = known.is_whole and known.listing = excluded.listing, listing = excluded.listing
            `
          return yield* sql`select id, program_id, is_whole, through, entries from indexed_programs`
        }).pipe(Effect.flatMap(decodePrograms))
      )
      const states = new Map<Address, IndexedProgram>()
      for (const { id, programId, ...state } of rows) {
        ids.set(programId, id)
        if (programs.has(programId)) {
          states.set(programId, state)
        }
      }
      return states
    }),
    lose: transact(sql`update indexed_programs set is_whole = false where is_whole`).pipe(
      Effect.asVoid,
      Effect.withSpan("PoolIndexStore.lose")
    ),
    add: Effect.fn("PoolIndexStore.add")((entries, { slot, through }) => {
      const note = sql`
        update indexed_programs set through = ${through}
        where program_id = any(${texts(entries.programs)}) and through <> ${through}
      `
      return Effect.asVoid(transact(Effect.andThen(insertAll(entries, slot), note)))
    }),
    replace: Effect.fn("PoolIndexStore.replace")(function* (program, entries, slot) {
      for (const part of entries.parts()) {
        yield* transact(insert(part, entries.programs, slot))
      }
      const id = ids.get(program) ?? 0
      const [row] = yield* transact(
        Effect.gen(function* () {
          yield* sql`delete from indexed_pools where program = ${id}::smallint and seen_slot < ${slot}`
          return yield* Effect.flatMap(
            sql`
              update indexed_programs set is_whole = true, through = greatest(through, ${slot}), entries = (
                select count(*) from indexed_pools where program = ${id}::smallint
              )
              where id = ${id}::smallint
              returning entries
            `,
            decodeCounts
          )
        })
      )
      return row?.entries ?? 0
    })
  }
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const reading = bounded(READ_DEADLINE, unavailable)
  const inTime = bounded(WRITE_DEADLINE, unavailable)
  // A snapshot and the writes since then may touch the same rows.
  const turn = yield* Semaphore.make(1)

  /** Runs a write while no other writer can claim the index. */
  const during =
    (term: number): Transact =>
    (effect) =>
      turn.withPermit(
        inTime(
          transaction(
            sql,
            Effect.gen(function* () {
              yield* sql`select set_config('idle_in_transaction_session_timeout', ${WRITER_SILENCE}, true)`
              const [row] = yield* Effect.flatMap(
                sql`select term::int as term from writer_terms where name = ${TERMS} for update`,
                decodeTerms
              )
              return row?.term === term ? yield* effect : yield* new TermEnded({ term })
            })
          )
        )
      )

  return PoolIndexStore.of({
    claim: Effect.gen(function* () {
      const [row] = yield* inTime(
        Effect.flatMap(
          sql`
            insert into writer_terms as known (name, term) values (${TERMS}, 1)
            on conflict (name) do update set term = known.term + 1
            returning term::int as term
          `,
          decodeTerms
        )
      )
      return makeWriter(sql, during(row?.term ?? 0))
    }).pipe(Effect.withSpan("PoolIndexStore.claim")),
    poolsOf: Effect.fn("PoolIndexStore.poolsOf")(function* (mint: Mint, { most, through }) {
      const rows = yield* reading(
        Effect.flatMap(
          sql`
            select program_id, pool
            from indexed_programs
            left join indexed_pools on program = id and mint = ${PgTypes.bytea(addressToBytes(mint))}
            where is_whole and through >= ${through}
            limit ${most + MOST_PROGRAMS}
          `,
          decodePools
        )
      )
      const pools = rows.flatMap(({ pool, programId }) =>
        pool === null ? [] : [{ programId, address: addressFromBytes(pool) }]
      )
      return pools.length > most ? NOT_INDEXED : { whole: new Set(rows.map(({ programId }) => programId)), pools }
    })
  })
})

/** The index in the tables `indexed_programs` and `indexed_pools`. */
export const layer: Layer.Layer<PoolIndexStore, never, SqlClient.SqlClient> = Layer.effect(PoolIndexStore, make)
