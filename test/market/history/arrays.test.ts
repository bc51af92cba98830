import { PgTypes } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { bytesColumn, columnsOf } from "../../../src/market/history/arrays.ts"

const { OID } = PgTypes

/** The client's own codecs, which take lists of values. */
const own = PgTypes.makeRegistry()

const seen = ({ oid, value }: PgTypes.Parameter, registry?: PgTypes.Registry) => ({
  oid,
  bytes: Buffer.from(Result.getOrThrow(PgTypes.encode(value, oid, registry)))
})

const listed = (values: ReadonlyArray<unknown>, element: number) =>
  seen(Result.getOrThrow(PgTypes.array(values, element)), own)

const assertArray = (packed: PgTypes.Parameter, values: ReadonlyArray<unknown>, element: number) => {
  assert.deepStrictEqual(seen(packed), listed(values, element))
}

const arrayOf = <A, I>(value: Schema.Codec<A, I>) => Schema.Array(Schema.NullOr(value))
const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const itself = <A>(value: A): A => value

const Shorts = arrayOf(between(-(2 ** 15), 2 ** 15 - 1))
const Integers = arrayOf(between(-(2 ** 31), 2 ** 31 - 1))
const Times = Schema.Array(between(0, 4_000_000_000_000))
const Units = arrayOf(Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 2n ** 64n - 1n })))

describe("packed arrays", () => {
  it.prop("have the bytes that the client makes of a list of numbers", [Shorts, Integers, Times], (given) => {
    const [shorts, integers, times] = given
    assertArray(columnsOf(shorts).shorts(itself), shorts, OID.int2)
    assertArray(columnsOf(integers).integers(itself), integers, OID.int4)
    assertArray(columnsOf(integers).floats(itself), integers, OID.float8)
    assertArray(columnsOf(times).times(itself), times, OID.timestamptz)
  })

  it.prop("have the bytes that the client makes of other lists", [Units, arrayOf(Schema.Boolean)], (given) => {
    const [units, booleans] = given
    const signed = units.map((value) => (value === null ? null : BigInt.asIntN(64, value)))
    assertArray(columnsOf(units).units(itself), signed, OID.int8)
    assertArray(columnsOf(booleans).booleans(itself), booleans, OID.bool)
  })

  it("hold fractions, infinite numbers and NaN", () => {
    const values = [0.1, -0, Number.POSITIVE_INFINITY, Number.NaN, null, 5e-324]
    assert.deepStrictEqual(seen(columnsOf(values).floats(itself)), listed(values, OID.float8))
  })

  it("make room for any number of bytes, for nulls and for none", () => {
    const values = Array.from({ length: 3_000 }, (_, n) => (n % 7 === 0 ? null : new Uint8Array(n % 90).fill(n)))
    assert.deepStrictEqual(seen(columnsOf(values).binaries(itself)), listed(values, OID.bytea))
    assert.deepStrictEqual(seen(bytesColumn(0).close()), listed([], OID.bytea))
  })

  it("fail their statement for a value that their type does not hold, instead of storing another one", () => {
    const numbers = [columnsOf([2 ** 31]).integers(itself), columnsOf([1.5]).integers(itself)]
    const others = [
      columnsOf([0, 40_000]).shorts(itself),
      columnsOf([Number.NaN]).times(itself),
      columnsOf([1e16]).times(itself),
      columnsOf([2n ** 64n]).units(itself),
      columnsOf([-(2n ** 63n) - 1n, 1n]).units(itself)
    ]
    for (const parameter of [...numbers, ...others]) {
      const encoded = PgTypes.encodeParameter(parameter)
      assert.match(Result.isFailure(encoded) ? encoded.failure.message : "", /cannot hold/u)
    }
  })

  it("leave lists of values as they were", () => {
    const given = Result.getOrThrow(PgTypes.array([1, null, 3], OID.int4))
    assert.deepStrictEqual(seen(given), listed([1, null, 3], OID.int4))
    assert.deepStrictEqual(Result.getOrThrow(PgTypes.decode(seen(given).bytes, given.oid, 1)), [1, null, 3])
  })
})
