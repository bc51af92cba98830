/** Tables, partitions and sequences of the current schema of a database. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Catalogue } from "./format.ts"

const Links = Schema.Array(Schema.Struct({ table: Schema.String, target: Schema.String }))

const schema = "(select oid from pg_namespace where nspname = current_schema())"

/**
 * Sorts tables so that each comes after the tables it refers to. Otherwise the given order stays, also for tables
 * that refer to each other.
 */
export const inOrder = <T extends { readonly name: string }>(
  tables: ReadonlyArray<T>,
  links: typeof Links.Type
): ReadonlyArray<T> => {
  const placed = new Set<string>()
  const order: Array<T> = []
  const place = (table: T): void => {
    if (!placed.has(table.name)) {
      placed.add(table.name)
      const targets = new Set(links.filter((link) => link.table === table.name).map(({ target }) => target))
      tables.filter(({ name }) => targets.has(name)).forEach(place)
      order.push(table)
    }
  }
  tables.forEach(place)
  return order
}

/** True when the current schema has any table, view or sequence. */
export const isFilled = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`
    select 1 from pg_class
    where relnamespace = ${sql.literal(schema)} and relkind in ('r', 'p', 'v', 'm', 'S', 'f') limit 1
  `
  return rows.length > 0
})

/** Reads the catalogue of the current schema, without the tables of extensions. */
export const readCatalogue = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const inSchema = sql.literal(schema)
  const tables = yield* sql`
    select relname::text as name, array(
      select attname || ' ' || format_type(atttypid, atttypmod) from pg_attribute
      where attrelid = c.oid and attnum > 0 and not attisdropped order by attnum
    ) as columns
    from pg_class c
    where relnamespace = ${inSchema} and relkind in ('r', 'p') and not relispartition
      and not exists (select from pg_depend where objid = c.oid and deptype = 'e')
    order by relname
  `.withoutTransform
  const links = yield* sql`
    select c.relname::text as table, f.relname::text as target
    from pg_constraint join pg_class c on c.oid = conrelid join pg_class f on f.oid = confrelid
    where contype = 'f' and c.relnamespace = ${inSchema}
  `.withoutTransform
  const partitions = yield* sql`
    select
      c.relname::text as name, p.relname::text as parent, top.relname::text as root,
      pg_get_expr(c.relpartbound, c.oid) as bound, pg_get_partkeydef(c.oid) as key,
      coalesce((
        select json_agg(json_build_object(
          'name', x.relname, 'isUnique', i.indisunique,
          'using', regexp_replace(pg_get_indexdef(x.oid), '^.*? (?=USING )', '')
        ) order by x.relname)
        from pg_index i join pg_class x on x.oid = i.indexrelid
        where i.indrelid = c.oid and not x.relispartition
          and not exists (select from pg_constraint where conindid = x.oid)
      ), '[]'::json) as indexes
    from pg_class c
    join pg_inherits on inhrelid = c.oid
    join pg_class p on p.oid = inhparent
    join pg_class top on top.oid = pg_partition_root(c.oid)
    where c.relnamespace = ${inSchema} and c.relkind in ('r', 'p') and c.relispartition
    order by (select count(*) from pg_partition_ancestors(c.oid)), c.relname
  `.withoutTransform
  const sequences = yield* sql`
    select sequencename::text as name, last_value::text as last from pg_sequences
    where schemaname = current_schema() and last_value is not null order by sequencename
  `.withoutTransform
  const catalogue = yield* decode({ tables, partitions, sequences })
  return { ...catalogue, tables: inOrder(catalogue.tables, yield* decodeLinks(links)) }
}).pipe(Effect.catchTag("SchemaError", Effect.die))

const decodeLinks = Schema.decodeUnknownEffect(Links)
const decode = Schema.decodeUnknownEffect(Catalogue)

/** Sets up the transaction so that the text of a value means the same on every server. */
export const exactText = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`set local statement_timeout = 0`
  yield* sql`set local datestyle = 'ISO, MDY'`
  yield* sql`set local timezone = 'UTC'`
  yield* sql`set local intervalstyle = 'postgres'`
  yield* sql`set local bytea_output = 'hex'`
  yield* sql`set local extra_float_digits = 1`
})
