/** Describes the values that a schema allows, to complete "field must be ...". */
import { SchemaAST } from "effect"

const anyOf = (items: ReadonlyArray<string>): string => {
  const [last = "", ...rest] = items.toReversed()
  return rest.length === 0 ? last : `${rest.toReversed().join(", ")} or ${last}`
}

/** The text of an annotation if a person can read it; undefined for a pattern without its own text. */
export const readable = (expected: unknown): string | undefined =>
  typeof expected === "string" && !expected.includes("RegExp") ? expected : undefined

/** The text of the innermost check that has one. */
const ofChecks = ({ checks }: SchemaAST.AST): string | undefined =>
  checks?.map(({ annotations }) => readable(annotations?.expected)).findLast((text) => text !== undefined)

const ofType = (ast: SchemaAST.AST): string => {
  const checked = ofChecks(ast)
  switch (ast._tag) {
    case "Literal":
      return String(ast.literal)
    case "Union":
      return anyOf(Array.from(new Set(ast.types.map(expectation))))
    case "Null":
      return "null"
    case "Boolean":
      return "true or false"
    case "Number":
      return checked ?? "a number"
    case "String":
      return checked === undefined ? "a string" : `a string: ${checked}`
    case "Arrays":
      return checked === undefined ? "a list" : `a list: ${checked}`
    default:
      return "an object"
  }
}

/** Describes the values on the encoded side of a schema. */
export const expectation = (ast: SchemaAST.AST): string =>
  readable(ast.annotations?.expected) ?? ofType(SchemaAST.toEncoded(ast))
