/**
 * Turns rows into PostgreSQL arrays, one array per column, for `unnest` and `any`. Each array is packed into bytes at once. A
 * list of values would live until its statement is sent, and the garbage collector would have to copy it.
 */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"
import { MAX_U64 } from "../../domain/Amount.ts"

const { OID } = PgTypes

type Cell<Row, A> = (row: Row) => A

/** Dimensions, a flag for nulls, the element type, the count, and the index of the first element. */
const HEAD_BYTES = 20
/** Head of an empty array, which has no dimension. */
const EMPTY_BYTES = 12
/** Bytes before each element: its length, or -1 for null. */
const LENGTH_BYTES = 4

const LEAST_I64 = -(2n ** 63n)
/** 2000-01-01 in milliseconds since the Unix epoch. */
const POSTGRES_EPOCH_MS = 946_684_800_000
/** The latest `Date`, in milliseconds since the Unix epoch. */
const MOST_MS = 8.64e15

/** How PostgreSQL stores a type in binary. */
interface ElementType<A> {
  readonly oid: number
  readonly arrayOid: number
  /** False for a value that the type cannot store. */
  readonly holds: (value: A) => boolean
  readonly sizeOf: (value: A) => number
  readonly write: (view: DataView, at: number, value: A, bytes: Uint8Array) => void
}

const int2: ElementType<number> = {
  oid: OID.int2,
  arrayOid: OID.int2Array,
  holds: (value) => value === (value << 16) >> 16,
  sizeOf: () => 2,
  write: (view, at, value) => view.setInt16(at, value)
}

const int4: ElementType<number> = {
  oid: OID.int4,
  arrayOid: OID.int4Array,
  holds: (value) => value === (value | 0),
  sizeOf: () => 4,
  write: (view, at, value) => view.setInt32(at, value)
}

/** A signed integer, or a u64, which is stored as the signed integer with the same bits. */
const u64: ElementType<bigint> = {
  oid: OID.int8,
  arrayOid: OID.int8Array,
  holds: (value) => value >= LEAST_I64 && value <= MAX_U64,
  sizeOf: () => 8,
  write: (view, at, value) => view.setBigInt64(at, value)
}

const float8: ElementType<number> = {
  oid: OID.float8,
  arrayOid: OID.float8Array,
  holds: (value) => typeof value === "number",
  sizeOf: () => 8,
  write: (view, at, value) => view.setFloat64(at, value)
}

const bool: ElementType<boolean> = {
  oid: OID.bool,
  arrayOid: OID.boolArray,
  holds: (value) => typeof value === "boolean",
  sizeOf: () => 1,
  write: (view, at, value) => view.setUint8(at, value ? 1 : 0)
}

/** Whole milliseconds since the Unix epoch, in the range of a `Date`. */
const timestamptz: ElementType<number> = {
  oid: OID.timestamptz,
  arrayOid: OID.timestamptzArray,
  holds: (ms) => Number.isInteger(ms) && Math.abs(ms) <= MOST_MS,
  sizeOf: () => 8,
  write: (view, at, ms) => view.setBigInt64(at, BigInt(ms - POSTGRES_EPOCH_MS) * 1000n)
}

const bytea: ElementType<Uint8Array> = {
  oid: OID.bytea,
  arrayOid: OID.byteaArray,
  holds: (value) => value instanceof Uint8Array,
  sizeOf: ({ length }) => length,
  write: (_, at, value, bytes) => bytes.set(value, at)
}

const viewOf = ({ buffer, byteLength, byteOffset }: Uint8Array) => new DataView(buffer, byteOffset, byteLength)

/** The array of a column while it is made, one value after the other. */
class Column<A> {
  readonly #type: ElementType<A>
  #bytes: Buffer
  #view: DataView
  #end = HEAD_BYTES
  #count = 0
  #hasNull = false
  #fault: PgTypes.CodecError | null = null

  /** Begins with room for some elements of eight bytes. */
  constructor(type: ElementType<A>, elements: number) {
    this.#type = type
    this.#bytes = Buffer.allocUnsafe(HEAD_BYTES + elements * (LENGTH_BYTES + 8))
    this.#view = viewOf(this.#bytes)
  }

  /** Adds a value. The statement fails if the type does not hold it. */
  add(value: A | null): void {
    if (value !== null && !this.#type.holds(value)) {
      this.#fault ??= new PgTypes.CodecError({ message: `an array of type ${this.#type.oid} cannot hold ${value}` })
      return
    }
    const size = value === null ? 0 : this.#type.sizeOf(value)
    this.#makeRoom(LENGTH_BYTES + size)
    this.#view.setInt32(this.#end, value === null ? -1 : size)
    if (value === null) {
      this.#hasNull = true
    } else {
      this.#type.write(this.#view, this.#end + LENGTH_BYTES, value, this.#bytes)
    }
    this.#end += LENGTH_BYTES + size
    this.#count += 1
  }

  /** The array of all values. Call it last. */
  close(): PgTypes.Parameter {
    const isEmpty = this.#count === 0
    this.#view.setInt32(0, isEmpty ? 0 : 1)
    this.#view.setInt32(4, this.#hasNull ? 1 : 0)
    this.#view.setInt32(8, this.#type.oid)
    this.#view.setInt32(12, this.#count)
    this.#view.setInt32(16, 1)
    return {
      [PgTypes.ParameterTypeId]: PgTypes.ParameterTypeId,
      oid: this.#type.arrayOid,
      value: this.#fault ?? this.#bytes.subarray(0, isEmpty ? EMPTY_BYTES : this.#end)
    }
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

/** A column of bytes with room for so many rows. */
export const bytesColumn = (rows: number) => new Column(bytea, rows)

const plain = PgTypes.makeRegistry()

// The client encodes arrays from lists only. Accept packed arrays too, in the whole process.
for (const { arrayOid } of [bool, bytea, float8, int2, int4, timestamptz, u64]) {
  PgTypes.register<unknown>(arrayOid, {
    encode: (value) => {
      if (value instanceof PgTypes.CodecError) {
        return Result.fail(value)
      }
      return value instanceof Uint8Array ? Result.succeed(value) : PgTypes.encode(value, arrayOid, plain)
    },
    decode: (bytes) => PgTypes.decode(bytes, arrayOid, 1, plain)
  })
}

/** Makes arrays with one value of each row. Times are milliseconds since the Unix epoch; units are u64. */
export const columnsOf = <Row>(rows: ReadonlyArray<Row>) => {
  const column =
    <A>(type: ElementType<A>) =>
    (cell: Cell<Row, A | null>) => {
      const made = new Column(type, rows.length)
      for (const row of rows) {
        made.add(cell(row))
      }
      return made.close()
    }
  return {
    binaries: column(bytea),
    booleans: column(bool),
    floats: column(float8),
    integers: column(int4),
    shorts: column(int2),
    // The codec of this type is known, so this cannot fail.
    texts: (cell: Cell<Row, string | null>) => Result.getOrThrow(PgTypes.array(rows.map(cell), OID.text)),
    times: column(timestamptz),
    units: column(u64)
  }
}

const itself = <A>(value: A): A => value

export const textArray = (values: ReadonlyArray<string>) => columnsOf(values).texts(itself)

export const integerArray = (values: ReadonlyArray<number>) => columnsOf(values).integers(itself)

export const timeArray = (values: ReadonlyArray<number>) => columnsOf(values).times(itself)
