/** A database with rows in every table, made from its catalogue. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { readCatalogue } from "../../../src/storage/backup/readCatalogue.ts"

const Texts = Schema.Array(Schema.Struct({ row: Schema.String }))
const texts = Schema.decodeUnknownEffect(Texts)

/** Every table with its rows as text, ordered by text. */
export const contents = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { sequences, tables } = yield* readCatalogue
  const rows: Record<string, ReadonlyArray<string>> = {}
  for (const { name } of tables) {
    const found = yield* sql`select each::text as row from ${sql(name)} as each order by 1`.pipe(Effect.flatMap(texts))
    rows[name] = found.map(({ row }) => row)
  }
  return { rows, sequences }
}).pipe(Effect.orDie)

/** Definitions of all relations, columns, indexes, constraints and views, without ids. */
export const definitions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* sql`
    select 'relation ' || c.relname || ' ' || c.relkind::text || ' ' || coalesce(pg_get_expr(relpartbound, c.oid), '')
      || coalesce(pg_get_partkeydef(c.oid), '') as row
    from pg_class c where relnamespace = 'public'::regnamespace
    union all select 'index ' || indexdef from pg_indexes where schemaname = 'public'
    union all select 'constraint ' || conrelid::regclass || ' ' || pg_get_constraintdef(oid) from pg_constraint
      where connamespace = 'public'::regnamespace
    union all select 'column ' || attrelid::regclass || ' ' || attname || ' ' || format_type(atttypid, atttypmod)
      || ' ' || attstorage::text || attidentity::text || ' ' || attcollation::regcollation
      || ' ' || coalesce(pg_get_expr(adbin, adrelid), '')
      from pg_attribute join pg_class c on c.oid = attrelid left join pg_attrdef on adrelid = c.oid and adnum = attnum
      where relnamespace = 'public'::regnamespace and attnum > 0 and not attisdropped and c.relkind in ('r', 'p', 'v')
    union all select 'view ' || viewname || ' ' || definition from pg_views where schemaname = 'public'
    order by 1
  `.pipe(Effect.flatMap(texts))
}).pipe(Effect.orDie)

const AWKWARD = `tab\\t "quote" 'single' (paren), comma \\\\ back\nline ✓ é 🦊`

/** The `n`th value of a type. Numbers stay below 1,000, times on one day. */
const valueOf = (type: string, n: number): string => {
  const text = `'${AWKWARD.replaceAll("'", "''")} ${n}'`
  if (type.startsWith("timestamp")) {
    return `timestamptz '2026-03-04 05:06:07.891+00' + ${n} * interval '1 second'`
  }
  switch (type) {
    case "text":
      return text
    case "text[]":
      return `array[${text}, null, '', 'NULL']`
    case "bigint[]":
      return `array[${n}, null, 9223372036854775807]`
    case "bytea":
      return `'\\x00ff5c2c22'::bytea || int4send(${n})`
    case "boolean":
      return `${n % 2 === 0}`
    case "double precision":
      return `(array[0.1 + 0.2, 'Infinity', '-0', 5e-324, 'NaN', 1.7976931348623157e308]::float8[])[1 + ${n} % 6]`
    case "numeric":
      return `18446744073709551615.000000001230 + ${n}`
    case "jsonb":
    case "json":
      return `jsonb_build_object('a "b"', ${text}::text)::${type}`
    case "date":
      return `date '2026-03-04' + ${n}`
    case "uuid":
      return `md5('${n}')::uuid`
    case "cidr":
    case "inet":
      return `'10.0.0.${n}'::${type}`
    default:
      return /int|smallint/u.test(type) ? `${n}` : "null"
  }
}

/** Columns whose values must follow other rules: partition keys and checks. */
const BOUND: Readonly<Record<string, string>> = { "bars.width": "60" }

const insertInto = (table: string, columns: ReadonlyArray<string>, n: number) => {
  const names = columns.map((column) => column.slice(0, column.indexOf(" ")))
  const values = columns.map((column, at) => {
    const type = column.slice(column.indexOf(" ") + 1)
    return (
      BOUND[`${table}.${names[at]}`] ?? valueOf(type.replace(/\([\d,]+\)| COLLATE.*/gu, "").replace(/ with.*/u, ""), n)
    )
  })
  return `insert into ${table} (${names.map((name) => `"${name}"`).join(", ")}) overriding system value
    values (${values.join(", ")})`
}

/** Adds partitions of a day, and rows to every table except the record of migrations. */
export const fill = (rowsEach: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`
      create table trade_rows_20260304 partition of trade_rows
      for values from ('2026-03-04 00:00:00+00') to ('2026-03-05 00:00:00+00')
    `
    yield* sql`create unique index trade_rows_20260304_place on trade_rows_20260304 (chain, slot, place)`
    yield* sql`
      create table minute_bars_20260304 partition of minute_bars
      for values from ('2026-03-04 00:00:00+00') to ('2026-03-05 00:00:00+00')
    `
    const { tables } = yield* readCatalogue
    for (const { columns, name } of tables.filter((table) => table.name !== "schema_migrations")) {
      for (let n = 1; n <= rowsEach; n++) {
        yield* sql.unsafe(insertInto(name, columns, n))
      }
    }
    yield* sql`select setval('callout_ledger', 41)`
    yield* sql`select setval('trade_names_id_seq', 1000)`
  }).pipe(Effect.orDie)
