/** Queries of the table `block_gaps`: the stretches of a chain whose blocks were not read. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import type { Gaps, MissingBlocks } from "../model/Gaps.ts"

const Row = Schema.Struct({
  fromSlot: Schema.Number,
  toSlot: Schema.Number,
  fromAt: Schema.Date,
  toAt: Schema.Date,
  state: Schema.Literals(["open", "unavailable"]),
  tries: Schema.Number,
  nextTryAt: Schema.Date
})

const gapOf = ({ fromAt, nextTryAt, toAt, ...row }: typeof Row.Type): MissingBlocks => ({
  ...row,
  fromSecond: fromAt.getTime() / 1000,
  toSecond: toAt.getTime() / 1000,
  nextTryAtMs: nextTryAt.getTime()
})

const timeOf = (second: number) => PgTypes.timestamptz(second * 1000)

export const makeGapTable = (sql: SqlClient.SqlClient) => {
  const all = SqlSchema.findAll({
    Request: Schema.Number,
    Result: Row,
    execute: (chain) => sql`
      select from_slot, to_slot, from_at, to_at, state, tries, next_try_at from block_gaps
      where chain = ${chain} order by from_slot
    `
  })

  const put = (chain: number, gap: MissingBlocks) => sql`
    insert into block_gaps (chain, from_slot, to_slot, from_at, to_at, state, tries, next_try_at)
    values (
      ${chain}, ${gap.fromSlot}, ${gap.toSlot}, ${timeOf(gap.fromSecond)}, ${timeOf(gap.toSecond)}, ${gap.state},
      ${gap.tries}, ${PgTypes.timestamptz(gap.nextTryAtMs)}
    )
    on conflict (chain, from_slot) do update set
      to_slot = excluded.to_slot, from_at = excluded.from_at, to_at = excluded.to_at, state = excluded.state,
      tries = excluded.tries, next_try_at = excluded.next_try_at
  `

  return {
    /** The gaps of a chain, in order. */
    of: (chain: number): Effect.Effect<Gaps, Effect.Error<ReturnType<typeof all>>> =>
      Effect.map(all(chain), (rows) => rows.map(gapOf)),

    /** Writes the difference between two lists of gaps. */
    save: Effect.fnUntraced(function* (chain: number, before: Gaps, after: Gaps) {
      const known = new Set(before)
      const kept = new Set(after.map(({ fromSlot }) => fromSlot))
      yield* Effect.forEach(
        before.filter(({ fromSlot }) => !kept.has(fromSlot)),
        ({ fromSlot }) => sql`delete from block_gaps where chain = ${chain} and from_slot = ${fromSlot}`,
        { discard: true }
      )
      yield* Effect.forEach(
        after.filter((gap) => !known.has(gap)),
        (gap) => put(chain, gap),
        { discard: true }
      )
    })
  }
}
