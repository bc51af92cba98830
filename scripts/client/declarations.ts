/** Declarations of the client package that stand alone: every type of the contract is written out from its schema. */
import { Schema, SchemaRepresentation } from "effect"
import { HttpApi } from "effect/http-api"
import { readFileSync } from "node:fs"
import { withComments, withMarks, withoutMarks } from "./descriptions.ts"
import { Api } from "../../src/api/Api.ts"
import { CandlesEvent, LiquidityStreamEvent, TradesEvent } from "../../src/api/MarketStreams.ts"
import { catalogue } from "../../src/api/errors/catalogue.ts"
import { ErrorDetail } from "../../src/api/errors/Problem.ts"
import { EndCode, MarketControlFrame, MarketDataFrame, subscribeMessages } from "../../src/api/schemas/MarketFrame.ts"
import { CloseFrame, ErrorFrame, OpenFrame, QuoteFrame, ThrottledFrame } from "../../src/api/schemas/QuoteStream.ts"
import { ControlFrame, DataFrame, LiveGap, SnapshotGap } from "../../src/api/schemas/LiveFrame.ts"

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** A representation without checks and annotations, which are not part of a type. */
const bare = (value: unknown): unknown => {
  if (Array.isArray(value)) {
    return value.map(bare)
  }
  return isPlain(value)
    ? Object.fromEntries(
        Object.entries(value).flatMap(([key, inner]) =>
          key === "annotations" ? [] : [[key, key === "checks" ? [] : bare(inner)]]
        )
      )
    : value
}

/** The parts of one operation. */
interface Parts {
  readonly group: string
  readonly name: string
  readonly call: ReadonlyArray<readonly [string, Schema.Top]>
  readonly success: ReadonlyArray<Schema.Top>
  readonly summary: string
}

const operations = (): ReadonlyArray<Parts> => {
  const found: Array<Parts> = []
  const document = JSON.parse(readFileSync(new URL("../../src/api/openapi.json", import.meta.url), "utf8"))
  const summaries = new Map(
    Object.values<Record<string, { readonly operationId: string; readonly summary?: string }>>(document.paths)
      .flatMap((methods) => Object.values(methods))
      .map(({ operationId, summary = "" }) => [operationId, summary])
  )
  HttpApi.reflect(Api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, group }) => {
      const { headers, identifier, params, payload, query, success } = endpoint
      const bodies = Array.from(payload.values()).flatMap(({ schemas }) => schemas as ReadonlyArray<Schema.Top>)
      const call = [
        ["params", params],
        ["query", query],
        ["headers", headers],
        ["payload", bodies[0]]
      ] as const
      found.push({
        group: group.identifier,
        name: identifier,
        call: call.flatMap(([part, schema]) => (schema === undefined ? [] : [[part, schema] as const])),
        success: Array.from(success),
        summary: summaries.get(`${group.identifier}.${identifier}`) ?? ""
      })
    }
  })
  return found
}

const named: Readonly<Record<string, Schema.Top>> = {
  ErrorDetail,
  OpenFrame,
  QuoteFrame,
  ErrorFrame,
  ThrottledFrame,
  CloseFrame,
  DataFrame,
  ControlFrame,
  MarketDataFrame,
  MarketControlFrame,
  LiveGap,
  SnapshotGap,
  EndCode,
  TradesEvent,
  LiquidityStreamEvent,
  CandlesEvent,
  ...Object.fromEntries(Object.entries(subscribeMessages).map(([channel, schema]) => [`subscribe ${channel}`, schema]))
}

/** The type of the events of each stream, or of the parts of a file. */
const streams: Readonly<Record<string, string>> = {
  "exports.day": "Uint8Array",
  "spot.stream": "Frame",
  "marketStreams.trades": "TradesEvent",
  "marketStreams.liquidity": "LiquidityStreamEvent",
  "marketStreams.candles": "CandlesEvent"
}

/** A type without quotes around property names. */
const plain = (text: string): string => text.replaceAll(/"([A-Za-z_$]\w*)"(\??): /gu, "$1$2: ")

/** Types by key, and declarations by name, with marked names of properties. */
interface Written {
  readonly types: ReadonlyMap<string, string>
  readonly declared: ReadonlyArray<readonly [string, string]>
}

/** Removes a number from a name: `Address_6` becomes `Address`. */
const stemOf = (name: string): string => name.replace(/_\d+$/u, "")

/** Joins declarations that differ only in the number of their name. Their checks and texts had kept them apart. */
const merged = ({ declared, types }: Written): Written => {
  const names = new Map<string, string>()
  const firsts = new Map<string, string>()
  const kept = declared.filter(([name, type]) => {
    const key = `${stemOf(name)} ${withoutMarks(type)}`
    const same = firsts.get(key) ?? name
    firsts.set(key, same)
    names.set(name, same)
    return same === name
  })
  if (kept.length < declared.length) {
    const renamed = (type: string) => type.replaceAll(/\b\w+_\d+\b/gu, (name) => names.get(name) ?? name)
    // Types that referred to joined ones may now be the same.
    return merged({
      declared: kept.map(([name, type]) => [name, renamed(type)]),
      types: new Map(Array.from(types, ([key, type]) => [key, renamed(type)]))
    })
  }
  return { declared, types }
}

const representations = (schemas: ReadonlyArray<Schema.Top>): SchemaRepresentation.MultiDocument => {
  const [first, ...rest] = schemas.map(({ ast }) => ast)
  if (first === undefined) {
    throw new Error("There are no schemas.")
  }
  return SchemaRepresentation.toRepresentations([first, ...rest])
}

/** Types of schemas by key, the declarations they refer to, and the descriptions of marked properties and of declarations. */
const typesOf = (schemas: ReadonlyMap<string, Schema.Top>) => {
  const all = Array.from(schemas.values())
  const described = withMarks(
    representations(all.map((schema) => Schema.toType(schema))),
    representations(all.map((schema) => Schema.toEncoded(schema)))
  )
  const { codes, references } = SchemaRepresentation.toCodeDocument(
    bare(described.document) as SchemaRepresentation.MultiDocument
  )
  if (Object.keys(references.recursives).length > 0) {
    throw new Error("Recursive schemas have no declaration here.")
  }
  const types = new Map(Array.from(schemas.keys(), (key, at) => [key, plain(codes[at]?.Type ?? "unknown")]))
  const declared = references.nonRecursives.map(({ $ref, code }) => [$ref, plain(code.Type)] as const)
  return { ...merged({ types, declared }), texts: described.texts, about: described.about }
}

/** The text of an object type without the objects nested in it. */
const shallow = (type: string): string => {
  let text = type.replace(/^\{/u, "").replace(/\}$/u, "")
  while (/\{[^{}]*\}/u.test(text)) {
    text = text.replaceAll(/\{[^{}]*\}/gu, "object")
  }
  return text
}

/**
 * True for an object type whose properties may all be absent, or a union that contains one. References are looked up.
 */
const isOptional = (type: string, written: ReadonlyMap<string, string>): boolean => {
  const names = /^\w+(?: \| \w+)*$/u.test(type) ? type.split(" | ") : []
  const members = names.length === 0 ? [type] : names.map((name) => written.get(name) ?? name)
  return members.some((member) => !/readonly [\w"-]+: /u.test(shallow(member)))
}

/** True for a query without parameters. */
const isEmpty = (type: string): boolean => /^\{(?: readonly \[x: string\]: [^{}]*)?\s*\}$/u.test(type)

const callOf = (call: ReadonlyArray<readonly [string, string]>, written: ReadonlyMap<string, string>): string => {
  const parts = call
    .filter(([, type]) => !isEmpty(type))
    .map(([part, type]) => `readonly ${part}${isOptional(type, written) ? "?" : ""}: ${type}`)
  const isAllOptional = parts.every((part) => /^readonly \w+\?/u.test(part))
  return parts.length === 0 ? "call?: {}" : `call${isAllOptional ? "?" : ""}: { ${parts.join("; ")} }`
}

const commentOf = (text: string | undefined): string => (text === undefined ? "" : `/** ${text} */\n`)

const HAND_WRITTEN = readFileSync(new URL("written.d.ts", import.meta.url), "utf8")

/** The text of `index.d.ts`. */
export const declarations = (): string => {
  const all = operations()
  const schemas = new Map<string, Schema.Top>(Object.entries(named))
  for (const { call, group, name, success } of all) {
    call.forEach(([part, schema]) => schemas.set(`${group}.${name} ${part}`, schema))
    success.forEach((schema, at) => {
      if (!Object.hasOwn(streams, `${group}.${name}`)) {
        schemas.set(`${group}.${name} success ${at}`, schema)
      }
    })
  }
  const { about, declared, texts, types } = typesOf(schemas)
  const written = new Map(declared)
  const typeOf = (key: string) => types.get(key) ?? "unknown"
  const groups = Array.from(new Set(all.map(({ group }) => group)), (group) => {
    const methods = all
      .filter((each) => each.group === group)
      .map(({ call, name, success, summary }) => {
        const id = `${group}.${name}`
        const answers = [
          ...new Map(
            success.map((_, at) => typeOf(`${id} success ${at}`)).map((type) => [withoutMarks(type), type])
          ).values()
        ].join(" | ")
        const events = streams[id]
        const answer = events === undefined ? `Promise<${answers}>` : `AsyncIterable<${events}>`
        const parts = callOf(
          call.map(([part]) => [part, typeOf(`${id} ${part}`)]),
          written
        )
        const method = withComments(`(${parts}, options?: CallOptions) => ${answer}`, texts, "    ")
        return `    /** ${summary}. */\n    readonly ${name}: ${method}`
      })
    return `  readonly ${group}: {\n${methods.join("\n")}\n  }`
  })
  const own = Object.keys(named).filter((name) => !written.has(name) && !name.includes(" "))
  const channels = Object.keys(subscribeMessages).map((channel) => typeOf(`subscribe ${channel}`))
  return [
    "/** Types of the contract, written out from its schemas. */",
    ...declared.map(
      ([name, type]) => `${commentOf(about.get(name))}export type ${name} = ${withComments(type, texts)}`
    ),
    ...own.map((name) => `export type ${name} = ${withComments(typeOf(name), texts)}`),
    `type SubscribeMessage = ${withComments(channels.join(" | "), texts)}`,
    `export type ErrorCode = ${Object.keys(catalogue)
      .map((code) => JSON.stringify(code))
      .join(" | ")}`,
    "",
    "/** Every call of the contract, by group. */",
    `export interface Client {\n${groups.join("\n")}\n}`,
    "",
    HAND_WRITTEN
  ].join("\n")
}
