/** Parser of reviewed identities: one JSON object per line, or one JSON array. A file is read whole or rejected. */
import { Effect, Schema, SchemaIssue } from "effect"
import { IdentityRecord } from "../api/schemas/WalletIdentity.ts"

/** The first error of the file. Lines count from one; the field is a dotted path, empty for a whole line. */
export class IdentitiesRefused extends Schema.TaggedError<IdentitiesRefused>()("IdentitiesRefused", {
  line: Schema.Int,
  field: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    const field = this.field === "" ? "" : `, ${this.field}`
    return `Identities, line ${this.line}${field}: ${this.detail}`
  }
}

interface Line {
  readonly line: number
  readonly value: unknown
}

const decode = Schema.decodeUnknownEffect(IdentityRecord, { onExcessProperty: "error" })
const explain = SchemaIssue.makeFormatterStandardSchemaV1()

const parse = (text: string, line: number) =>
  Effect.try({
    try: (): unknown => JSON.parse(text),
    catch: () => new IdentitiesRefused({ line, field: "", detail: "not JSON" })
  })

/** A JSON string, a bracket, a brace or a line end. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]\n]/gu

/** The line on which each object of a JSON array begins. */
const linesOfObjects = (text: string): ReadonlyArray<number> => {
  const lines: Array<number> = []
  let [depth, line] = [0, 1]
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === "{" && depth === 1) {
      lines.push(line)
    }
    depth += token === "{" || token === "[" ? 1 : token === "}" || token === "]" ? -1 : 0
    line += token === "\n" ? 1 : 0
  }
  return lines
}

const isArray = Schema.is(Schema.Array(Schema.Unknown))

const readArray = Effect.fnUntraced(function* (text: string) {
  const values = yield* parse(text, 1)
  if (!isArray(values)) {
    return yield* new IdentitiesRefused({ line: 1, field: "", detail: "not an array" })
  }
  const lines = linesOfObjects(text)
  return values.map((value, index): Line => ({ line: lines[index] ?? 1, value }))
})

const readLines = (text: string) =>
  Effect.forEach(
    text.split("\n").flatMap((each, index) => (each.trim() === "" ? [] : [{ text: each, line: index + 1 }])),
    ({ line, text: each }) => Effect.map(parse(each, line), (value): Line => ({ line, value }))
  )

const recordOf = ({ line, value }: Line) =>
  Effect.mapError(decode(value), ({ issue }) => {
    const [first] = explain(issue).issues
    const field = (first?.path ?? []).map((key) => String(typeof key === "object" ? key.key : key)).join(".")
    return new IdentitiesRefused({ line, field, detail: first?.message ?? "not a record" })
  })

/** The records of a file. Fails at the first error; a wallet may occur once. */
export const readIdentities = Effect.fn("readIdentities")(function* (text: string) {
  const lines = yield* text.trimStart().startsWith("[") ? readArray(text) : readLines(text)
  const seen = new Set<string>()
  return yield* Effect.forEach(lines, (line) =>
    Effect.flatMap(recordOf(line), (record) => {
      if (seen.has(record.wallet)) {
        return Effect.fail(new IdentitiesRefused({ line: line.line, field: "wallet", detail: "a duplicate" }))
      }
      seen.add(record.wallet)
      return Effect.succeed(record)
    })
  )
})
