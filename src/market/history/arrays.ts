/**
 * Turns rows into PostgreSQL arrays, one array per column, for `unnest` and `any`. They are packed into bytes as they are
 * made: a list of the values would stay in memory until its statement is sent, and every collection would copy it meanwhile.
 */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

const { OID } = PgTypes

type Cell<Row, A> = (row: Row) => A

/** Dimensions, a flag for nulls, the element type, the count, and the index of the first element. */
const HEAD_BYTES = 20
/** Bytes before each element: its length, or -1 for null. */
const LENGTH_BYTES = 4
/** What an array without elements has: no dimension. */
const EMPTY_BYTES = 12

/** 2000-01-01 in milliseconds since the Unix epoch. */
const POSTGRES_EPOCH_MS = 946_684_800_000

class PackedArray {
  readonly bytes: Uint8Array
  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}

/** How the values of a type become bytes. `write` throws for a value that the type does not hold. */
interface Width<A> {
  readonly element: number
  readonly array: number
  readonly bytes: number
  readonly write: (view: DataView, at: number, value: A) => void
}

const outside = (value: unknown, type: string): never => {
  throw new RangeError(`${String(value)} is no ${type}`)
}

const int2: Width<number> = {
  element: OID.int2,
  array: OID.int2Array,
  bytes: 2,
  write: (view, at, value) =>
    value === (value << 16) >> 16 ? view.setInt16(at, value) : outside(value, "16-bit integer")
}

const int4: Width<number> = {
  element: OID.int4,
  array: OID.int4Array,
  bytes: 4,
  write: (view, at, value) => (value === (value | 0) ? view.setInt32(at, value) : outside(value, "32-bit integer"))
}

/** A u64 is stored as the signed integer with the same bits. */
const units: Width<bigint> = {
  element: OID.int8,
  array: OID.int8Array,
  bytes: 8,
  write: (view, at, value) => view.setBigInt64(at, value)
}

const float8: Width<number> = {
  element: OID.float8,
  array: OID.float8Array,
  bytes: 8,
  write: (view, at, value) => view.setFloat64(at, value)
}

const bool: Width<boolean> = {
  element: OID.bool,
  array: OID.boolArray,
  bytes: 1,
  write: (view, at, value) => view.setUint8(at, value ? 1 : 0)
}

/** Milliseconds since the Unix epoch. */
const timestamptz: Width<number> = {
  element: OID.timestamptz,
  array: OID.timestamptzArray,
  bytes: 8,
  write: (view, at, ms) =>
    Number.isSafeInteger(ms) ? view.setBigInt64(at, BigInt(ms - POSTGRES_EPOCH_MS) * 1000n) : outside(ms, "time")
}

const viewOf = ({ buffer, byteLength, byteOffset }: Uint8Array) => new DataView(buffer, byteOffset, byteLength)

const parameter = (oid: number, value: PackedArray): PgTypes.Parameter => ({
  [PgTypes.ParameterTypeId]: PgTypes.ParameterTypeId,
  oid,
  value
})

/** Writes the head of `count` elements, whose end is `end`. */
const closed = (
  bytes: Uint8Array,
  view: DataView,
  {
    array,
    count,
    element,
    end,
    hasNull
  }: Pick<Width<never>, "array" | "element"> & {
    readonly count: number
    readonly end: number
    readonly hasNull: boolean
  }
) => {
  view.setInt32(0, count === 0 ? 0 : 1)
  view.setInt32(4, hasNull ? 1 : 0)
  view.setInt32(8, element)
  view.setInt32(12, count)
  view.setInt32(16, 1)
  return parameter(array, new PackedArray(bytes.subarray(0, count === 0 ? EMPTY_BYTES : end)))
}

const packed = <A, Row>(
  { array, bytes: width, element, write }: Width<A>,
  rows: ReadonlyArray<Row>,
  cell: Cell<Row, A | null>
): PgTypes.Parameter => {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + rows.length * (LENGTH_BYTES + width))
  const view = viewOf(bytes)
  let end = HEAD_BYTES
  let hasNull = false
  for (const row of rows) {
    const value = cell(row)
    view.setInt32(end, value === null ? -1 : width)
    end += LENGTH_BYTES
    if (value === null) {
      hasNull = true
    } else {
      write(view, end, value)
      end += width
    }
  }
  return closed(bytes, view, { array, element, count: rows.length, end, hasNull })
}

const FIRST_BYTES = 4096

/** A column of bytes, one value after the other. */
export class BytesColumn {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES)
  #view = viewOf(this.#bytes)
  #end = HEAD_BYTES
  #count = 0
  #hasNull = false

  add(value: Uint8Array | null): void {
    this.#makeRoom(LENGTH_BYTES + (value === null ? 0 : value.length))
    this.#view.setInt32(this.#end, value === null ? -1 : value.length)
    this.#end += LENGTH_BYTES
    this.#count += 1
    if (value === null) {
      this.#hasNull = true
    } else {
      this.#bytes.set(value, this.#end)
      this.#end += value.length
    }
  }

  /** The array of all values. No value may follow. */
  close(): PgTypes.Parameter {
    const state = { count: this.#count, end: this.#end, hasNull: this.#hasNull }
    return closed(this.#bytes, this.#view, { array: OID.byteaArray, element: OID.bytea, ...state })
  }

  #makeRoom(more: number): void {
    const needed = this.#end + more
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length))
      larger.set(this.#bytes.subarray(0, this.#end))
      this.#bytes = larger
      this.#view = viewOf(larger)
    }
  }
}

const plain = PgTypes.makeRegistry()

// A client knows an array as a list of its values. From here on it takes packed arrays too.
for (const oid of [bool, float8, int2, int4, timestamptz, units].map(({ array }) => array).concat(OID.byteaArray)) {
  PgTypes.register<unknown>(oid, {
    encode: (value) => (value instanceof PackedArray ? Result.succeed(value.bytes) : PgTypes.encode(value, oid, plain)),
    decode: (bytes) => PgTypes.decode(bytes, oid, 1, plain)
  })
}

/** Makes arrays with one value of each row. Times are milliseconds since the Unix epoch; units are u64. */
export const columnsOf = <Row>(rows: ReadonlyArray<Row>) => {
  const column =
    <A>(width: Width<A>) =>
    (cell: Cell<Row, A | null>) =>
      packed(width, rows, cell)
  return {
    binaries: (cell: Cell<Row, Uint8Array | null>) => {
      const made = new BytesColumn()
      rows.forEach((row) => made.add(cell(row)))
      return made.close()
    },
    booleans: column(bool),
    floats: column(float8),
    integers: column(int4),
    shorts: column(int2),
    // The codec of this type is known, so this cannot fail.
    texts: (cell: Cell<Row, string | null>) => Result.getOrThrow(PgTypes.array(rows.map(cell), OID.text)),
    times: column(timestamptz),
    units: column(units)
  }
}

const itself = <A>(value: A): A => value

export const textArray = (values: ReadonlyArray<string>) => columnsOf(values).texts(itself)

export const integerArray = (values: ReadonlyArray<number>) => columnsOf(values).integers(itself)

export const timeArray = (values: ReadonlyArray<number>) => columnsOf(values).times(itself)
