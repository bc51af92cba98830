/** Turns schema issues into the contract's error details. */
import { Schema, SchemaAST, type SchemaIssue } from "effect"
import { type ErrorDetail, Issue } from "../../api/errors/Problem.ts"
import { InvalidRequest } from "../../api/errors/problems.ts"
import { expectation, readable } from "./expectation.ts"

/** The part of a request that a schema checked, and its input. */
export interface Source {
  readonly in: ErrorDetail["in"]
  readonly input: unknown
}

interface Objection {
  readonly detail: ErrorDetail
  readonly message: string
}

type Path = ReadonlyArray<PropertyKey>

const isIssue = Schema.is(Issue)

const valueAt = (input: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (value, key) => (typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined),
    input
  )

const RANGES = /^effect\/schema\/is(?:Between|GreaterThan|LessThan|Min|MultipleOf)/u
const LENGTHS = /^effect\/schema\/is(?:Max|Between)(?:Length|CodePoints|Size)$/u
const KINDS = /^effect\/schema\/is(?:Int|Finite)$/u

const issueOfFilter = ({ annotations }: SchemaIssue.Filter["filter"]): Issue => {
  const id = annotations?.representation?.id ?? ""
  if (isIssue(annotations?.["issue"])) {
    return annotations["issue"]
  }
  if (id === "effect/schema/isUnique") {
    return "duplicate"
  }
  if (LENGTHS.test(id)) {
    return "too_long"
  }
  if (RANGES.test(id)) {
    return "out_of_range"
  }
  return KINDS.test(id) ? "type" : "format"
}

/**
 * The issue of a value with the wrong shape. Query values are text, and a parameter that is sent twice arrives as an
 * array.
 */
const issueOfMismatch = (source: Source, path: Path): Issue => {
  const value = valueAt(source.input, path)
  if (source.in === "query" && Array.isArray(value)) {
    return "repeated"
  }
  return typeof value === "string" && source.in !== "body" ? "format" : "type"
}

const sentences: Partial<Record<Issue, (field: string) => string>> = {
  missing: (field) => `${field} is required.`,
  unknown: (field) => `${field} is unknown.`,
  repeated: (field) => `${field} may be sent only once.`
}

/** The message of a schema as a sentence. A message that begins with "must" gets the field as its subject. */
const sentenceOf = (message: unknown, subject: string): string | undefined => {
  if (typeof message !== "string") {
    return undefined
  }
  return message.startsWith("must ") ? `${subject} ${message}.` : message
}

const expected = (annotations: { readonly [name: string]: unknown } | undefined, subject: string): string => {
  const text = readable(annotations?.["expected"])
  return text === undefined ? `${subject} is malformed.` : `${subject} must be ${text}.`
}

/** A header name as the contract spells it. Headers arrive in lower case. */
const headerName = (name: string): string => name.replaceAll(/(?:^|-)[a-z]/gu, (start) => start.toUpperCase())

const describe = (
  source: Source,
  path: Path,
  issue: Issue,
  annotations?: { readonly [name: string]: unknown }
): Objection => {
  // The value of a query parameter is one text, so the path ends at its name.
  const name = (source.in === "query" ? path.slice(0, 1) : path).map(String).join(".")
  const field = source.in === "header" ? headerName(name) : name
  const subject = field === "" ? `The ${source.in}` : field
  return {
    detail: { in: source.in, field, issue },
    message:
      sentenceOf(annotations?.["message"], subject) ?? sentences[issue]?.(subject) ?? expected(annotations, subject)
  }
}

/**
 * Counts the sent fields that an object schema knows; one required field outweighs all others. Null for another schema.
 */
const likeness = (member: SchemaAST.AST, sent: object): number | null => {
  const encoded = SchemaAST.toEncoded(member)
  if (encoded._tag !== "Objects") {
    return null
  }
  const known = encoded.propertySignatures.filter(({ name }) => Object.hasOwn(sent, name))
  const required = known.filter(({ type }) => !SchemaAST.isOptional(type))
  return required.length * (Object.keys(sent).length + 1) + known.length
}

/**
 * The issue of the union member that the caller meant: the only member, or the object schema with most of the sent
 * fields (the first among equals). Undefined when that cannot be decided.
 */
const issueOfMember = ({ ast, issues }: SchemaIssue.AnyOf, input: unknown): SchemaIssue.Issue | undefined => {
  if (issues.length < 2) {
    return issues[0]
  }
  if (typeof input !== "object" || input === null || issues.length !== ast.types.length) {
    return undefined
  }
  const scores = ast.types.map((member) => likeness(member, input))
  const best = Math.max(...scores.map((score) => score ?? -1))
  return scores.includes(null) ? undefined : issues[scores.indexOf(best)]
}

const objections = (found: SchemaIssue.Issue, source: Source, path: Path): ReadonlyArray<Objection> => {
  switch (found._tag) {
    case "Pointer":
      return objections(found.issue, source, [...path, ...found.path])
    case "Encoding":
      return objections(found.issue, source, path)
    case "Composite":
      return found.issues.flatMap((issue) => objections(issue, source, path))
    case "Filter": {
      const inner = found.issue._tag === "InvalidValue" ? found.issue.annotations : undefined
      return found.issue._tag === "Pointer"
        ? objections(found.issue, source, path)
        : [describe(source, path, issueOfFilter(found.filter), { ...found.filter.annotations, ...inner })]
    }
    case "MissingKey":
      return [describe(source, path, "missing")]
    case "UnexpectedKey":
      return [describe(source, path, "unknown")]
    case "InvalidValue": {
      const issue = found.annotations?.["issue"]
      return [describe(source, path, isIssue(issue) ? issue : "format", found.annotations)]
    }
    default: {
      const meant = found._tag === "AnyOf" ? issueOfMember(found, valueAt(source.input, path)) : undefined
      if (meant !== undefined) {
        return objections(meant, source, path)
      }
      const allowed = "ast" in found ? expectation(found.ast) : undefined
      return [describe(source, path, issueOfMismatch(source, path), { expected: allowed })]
    }
  }
}

/** A 400 for a schema issue, with one detail for each field: the field's first issue. */
export const invalidRequest = (issue: SchemaIssue.Issue, source: Source): InvalidRequest => {
  const byField = new Map<string, Objection>()
  for (const objection of objections(issue, source, [])) {
    if (!byField.has(objection.detail.field)) {
      byField.set(objection.detail.field, objection)
    }
  }
  const all = Array.from(byField.values())
  return new InvalidRequest({
    error: { message: all[0]?.message ?? "The request is not valid.", details: all.map(({ detail }) => detail) }
  })
}
