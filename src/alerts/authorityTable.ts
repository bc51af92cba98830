/** The table `token_authorities`, as queries. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import { Address } from "../domain/Address.ts"
import { type Bound, purgeRows } from "../storage/purge.ts"
import { afterSighting, AUTHORITIES_KEPT_MS, type AuthorityRecord, type AuthoritySighting } from "./authorityRecord.ts"

const Changes = Schema.Struct({ mint: Address, changesMs: Schema.Array(Schema.Int) })
const Row = Schema.Struct({
  ...Changes.fields,
  slot: Schema.Int,
  mintAuthority: Schema.NullOr(Schema.String),
  freezeAuthority: Schema.NullOr(Schema.String),
  seenAtMs: Schema.Int
})

const rowOf = ({ changesMs, freezeAuthority, mint, mintAuthority, seenAtMs, slot }: AuthorityRecord) => ({
  mint,
  slot,
  mint_authority: mintAuthority,
  freeze_authority: freezeAuthority,
  changes_ms: changesMs,
  seen_at_ms: seenAtMs
})

const RECORDS = `
  as record (mint text, slot bigint, mint_authority text, freeze_authority text, changes_ms bigint[], seen_at_ms float8)
`

/** The queries. `note` reads before it writes, in a transaction. */
export const makeAuthorityTable = (sql: SqlClient.SqlClient) => {
  const recordset = (records: ReadonlyArray<AuthorityRecord>) =>
    sql`json_to_recordset(${JSON.stringify(records.map(rowOf))}::text::json) ${sql.literal(RECORDS)}`

  const lock = SqlSchema.findAll({
    Request: Schema.Array(Address),
    Result: Row,
    execute: (mints) => sql`
      select mint, slot::float8, mint_authority, freeze_authority, changes_ms::float8[],
        (extract(epoch from seen_at) * 1000)::float8 as seen_at_ms
      from token_authorities where ${sql.in("mint", mints)} order by mint for update
    `
  })
  const changed = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Changes,
    execute: () => sql`select mint, changes_ms::float8[] from token_authorities where cardinality(changes_ms) > 0`
  })

  return {
    note: Effect.fnUntraced(function* (sightings: ReadonlyArray<AuthoritySighting>, nowMs: number) {
      const first = sightings.map((sighting) => afterSighting(null, sighting, nowMs))
      // Always in the same order, or two processes would wait for each other.
      yield* sql`
        insert into token_authorities (mint, slot, mint_authority, freeze_authority, changes_ms, seen_at)
        select mint, slot, mint_authority, freeze_authority, changes_ms, to_timestamp(seen_at_ms / 1000)
        from ${recordset(first)} order by mint
        on conflict (mint) do nothing
      `
      const rows = yield* lock(sightings.map(({ mint }) => mint))
      const known = new Map(rows.map((row) => [row.mint, row]))
      const next = sightings.map((sighting) => afterSighting(known.get(sighting.mint) ?? null, sighting, nowMs))
      yield* sql`
        update token_authorities as kept set
          slot = record.slot, mint_authority = record.mint_authority, freeze_authority = record.freeze_authority,
          changes_ms = record.changes_ms, seen_at = to_timestamp(record.seen_at_ms / 1000)
        from ${recordset(next)} where kept.mint = record.mint
      `
    }),

    changes: Effect.map(changed(), (rows) => new Map(rows.map(({ changesMs, mint }) => [mint, changesMs]))),

    forget: Effect.asVoid(Effect.suspend(() => sql`delete from token_authorities`)),

    purge: <Failure>(nowMs: number, bound: Bound<Failure>) =>
      purgeRows({
        sql,
        bound,
        table: "token_authorities",
        where: sql`seen_at < ${PgTypes.timestamptz(nowMs - 2 * AUTHORITIES_KEPT_MS)}`
      })
  }
}
