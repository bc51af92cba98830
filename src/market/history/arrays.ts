/** Turns rows into PostgreSQL arrays, one array per column, for `unnest` and `any`. */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"
import { toStored } from "./tradeRows.ts"

const { OID } = PgTypes

type Cell<Row, A> = (row: Row) => A

/** Makes arrays with one value of each row. Times are milliseconds since the Unix epoch; units are u64. */
export const columnsOf = <Row>(rows: ReadonlyArray<Row>) => {
  // The codecs of all these types are known, so this cannot fail.
  const column =
    <A>(oid: number) =>
    (cell: Cell<Row, A>) =>
      Result.getOrThrow(PgTypes.array(rows.map(cell), oid))
  return {
    binaries: column<Uint8Array | null>(OID.bytea),
    booleans: column<boolean | null>(OID.bool),
    floats: column<number | null>(OID.float8),
    integers: column<number | null>(OID.int4),
    shorts: column<number | null>(OID.int2),
    texts: column<string | null>(OID.text),
    times: column<number>(OID.timestamptz),
    units: (cell: Cell<Row, bigint | null>) => column<bigint | null>(OID.int8)((row) => toStored(cell(row)))
  }
}

const itself = <A>(value: A): A => value

export const textArray = (values: ReadonlyArray<string>) => columnsOf(values).texts(itself)

export const integerArray = (values: ReadonlyArray<number>) => columnsOf(values).integers(itself)

export const timeArray = (values: ReadonlyArray<number>) => columnsOf(values).times(itself)
