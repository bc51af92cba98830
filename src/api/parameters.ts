/** Query parameters of the contract. Each value has one spelling; anything else is rejected with an `ErrorDetail`. */
import { Schema, SchemaIssue, SchemaTransformation } from "effect"
import { INTEGER } from "./document/parameters.ts"
import type { Issue } from "./errors/Problem.ts"
import { field } from "../domain/field.ts"

/**
 * The issue of one field, from inside a filter over several fields:
 * `Schema.makeFilter((query) => valid || refuse("uiAmount", "conflict", "Send amount or uiAmount, not both."))`.
 */
export const refuse = (field: string, issue: Issue, message: string): Schema.FilterIssue => ({
  path: [field],
  issue: new SchemaIssue.InvalidValue({ message, issue })
})

const isChange = (value: unknown): boolean =>
  typeof value !== "object" || value === null || Array.isArray(value) || Object.values(value).some(isChange)

/** The check of a body of changes: at least one field has to be in it. */
export const atLeastOneChange = Schema.makeFilter(
  (body: object) =>
    isChange(body) || {
      path: [],
      issue: new SchemaIssue.InvalidValue({ message: "Send at least one field to change.", issue: "missing" })
    },
  { toJsonSchema: () => ({ minProperties: 1 }) }
)

/** A query without parameters. Endpoints declare it, because an undeclared query accepts any parameter. */
export const NoQuery = Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Array(Schema.String)])).check(
  Schema.makeFilter((query) => Object.keys(query).map((name) => refuse(name, "unknown", `${name} is unknown.`)))
)

/**
 * Whole numbers in plain decimal digits: no sign, no spaces, no leading zeros, no exponent. Both ends are included. The
 * document shows an integer, with `byDefault` as its default.
 */
export const IntegerParameter = (minimum: number, maximum: number, byDefault?: number) =>
  Schema.String.check(
    Schema.isPattern(/^(?:0|[1-9][0-9]{0,15})$/u, {
      expected: `a whole number from ${minimum} to ${maximum}, in plain decimal digits`,
      toJsonSchema: () => ({
        [INTEGER]: { minimum, maximum, ...(byDefault !== undefined && { default: byDefault }) }
      })
    })
  )
    .annotate({ description: `A whole number from ${minimum} to ${maximum}, in plain decimal digits.` })
    .pipe(
      Schema.decodeTo(
        Schema.Int.check(
          Schema.isBetween({ minimum, maximum }, { expected: `a whole number from ${minimum} to ${maximum}` })
        ),
        SchemaTransformation.numberFromString
      )
    )

/** An optional parameter with its description. */
export const optional = <S extends Schema.Top>(parameter: S, description: string) =>
  field(Schema.optionalKey(parameter), description)

/** The last second of the year 9999, the latest accepted time. */
export const LAST_SECOND = 253_402_300_799

/** A Unix second. */
export const UnixSecond = IntegerParameter(0, LAST_SECOND)

/** Plain decimal text of at least zero: no sign, no exponent, at most 30 fraction digits. */
export const DecimalParameter = Schema.String.check(
  Schema.isMaxLength(64, { expected: "a plain decimal number of at most 64 characters" }),
  Schema.isPattern(/^(?:0|[1-9][0-9]*)(?:\.[0-9]{1,30})?$/u, {
    expected: "a plain decimal number with at most 30 fraction digits"
  })
)

/** The path of a token. Both parts are read as text, so that an unsupported chain is reported before a malformed address. */
export const tokenParams = {
  chain: field(Schema.String, "solana"),
  address: field(Schema.String, "A mint: base58 of 32 bytes.")
}

/** Exactly `true` or `false`. */
export const BooleanParameter = Schema.Literals(["true", "false"]).pipe(
  Schema.decodeTo(
    Schema.Boolean,
    SchemaTransformation.transform({
      decode: (text) => text === "true",
      encode: (flag): "true" | "false" => (flag ? "true" : "false")
    })
  )
)

/** Items separated by commas: at least one, at most `maximum`, none empty, none twice. */
export const CommaList = <Item extends Schema.Codec<string, string>>(item: Item, maximum: number) =>
  Schema.String.annotate({ description: `One to ${maximum} different items, separated by commas.` }).pipe(
    Schema.decodeTo(
      Schema.Array(item).check(
        Schema.isMaxLength(maximum, { expected: `1 to ${maximum} different items, separated by commas` }),
        Schema.isUnique({ expected: `1 to ${maximum} different items, separated by commas` })
      ),
      SchemaTransformation.transform({
        decode: (text: string): ReadonlyArray<string> => text.split(","),
        encode: (items) => items.join(",")
      })
    )
  )
