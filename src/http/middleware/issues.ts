/** What a schema objects to, in the words of the contract. */
import { Schema, type SchemaIssue } from "effect"
import { type ErrorDetail, Issue } from "../../api/Problem.ts"
import { InvalidRequest } from "../../api/problems.ts"

/** Where in the request a schema was applied, and to what. */
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

const wordOfFilter = ({ annotations }: SchemaIssue.Filter["filter"]): Issue => {
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

/** A query knows only text, so nothing in it has the wrong type; and a parameter sent twice arrives as an array. */
const wordOfMismatch = (source: Source, path: Path): Issue => {
  const value = valueAt(source.input, path)
  if (source.in === "query" && Array.isArray(value)) {
    return "repeated"
  }
  return typeof value === "string" && source.in !== "body" ? "format" : "type"
}

const sentences: Partial<Record<Issue, (field: string) => string>> = {
  missing: (field) => `${field} is required.`,
  unknown: (field) => `${field} is not known here.`,
  repeated: (field) => `${field} may be sent once only.`
}

/** As the contract spells it: headers arrive in lower case. */
const headerName = (name: string): string => name.replaceAll(/(?:^|-)[a-z]/gu, (start) => start.toUpperCase())

const describe = (source: Source, path: Path, issue: Issue, said?: { readonly [word: string]: unknown }): Objection => {
  // A parameter is one text, whatever is inside it.
  const name = (source.in === "query" ? path.slice(0, 1) : path).map(String).join(".")
  const field = source.in === "header" ? headerName(name) : name
  const subject = field === "" ? `The ${source.in}` : field
  const { expected, message } = said ?? {}
  const wanted = typeof expected === "string" ? `${subject} must be ${expected}.` : `${subject} is not valid.`
  return {
    detail: { in: source.in, field, issue },
    message: sentences[issue]?.(subject) ?? (typeof message === "string" ? message : wanted)
  }
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
        : [describe(source, path, wordOfFilter(found.filter), { ...found.filter.annotations, ...inner })]
    }
    case "MissingKey":
      return [describe(source, path, "missing")]
    case "UnexpectedKey":
      return [describe(source, path, "unknown")]
    case "InvalidValue": {
      const word = found.annotations?.["issue"]
      return [describe(source, path, isIssue(word) ? word : "format", found.annotations)]
    }
    default: {
      // A union of one is how a payload is declared; of several, no member is the one that was meant.
      const [only, ...others] = "issues" in found ? found.issues : []
      if (only !== undefined && others.length === 0) {
        return objections(only, source, path)
      }
      const expected = "ast" in found ? found.ast.annotations?.expected : undefined
      return [describe(source, path, wordOfMismatch(source, path), { expected })]
    }
  }
}

/** The refusal of a request that a schema objects to: each field once, with the first thing that is wrong with it. */
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
