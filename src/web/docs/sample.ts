/** Sample values for a schema: examples of the document, or living values for known names. */
import type { Media, OperationInfo, Parameter, Schema, Schemas } from "./document.ts"
import { alternatives, resolve } from "./schema.ts"

/** Values that exist at this service right now, or fallbacks while they are unknown. */
export interface Living {
  /** Traded mints, the most active first. */
  readonly mints: ReadonlyArray<string>
  /** Wallets that trade the first mint. */
  readonly wallets: ReadonlyArray<string>
  /** Other values by parameter name, such as the id of an alert of the account. */
  readonly named: Readonly<Record<string, string>>
  readonly nowMs: number
}

export const SOL = "So11111111111111111111111111111111111111112"
const USDC = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
const ONE_SOL = "1000000000"
const REQUEST_ID = "5f0c6a52-8a3e-4d0b-9d7e-2f1f6f0f9c11"
const SIGNATURE = "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"

/** Values that work at every service. */
export const PLAIN: Living = { mints: [USDC], wallets: ["11111111111111111111111111111112"], named: {}, nowMs: 0 }

/** A value by the name of a field or parameter; undefined for a name that means nothing by itself. */
const byName = (name: string, { mints, named, nowMs, wallets }: Living): unknown => {
  const [mint = USDC, other = USDC] = mints
  const [wallet = PLAIN.wallets[0]] = wallets
  const known: Readonly<Record<string, unknown>> = {
    chain: "solana",
    inputMint: SOL,
    outputMint: mint,
    mint,
    token: mint,
    address: mint,
    mints: [...new Set([mint, other])],
    wallet,
    wallets: [wallet],
    amount: ONE_SOL,
    inAmount: ONE_SOL,
    symbol: "SOL",
    size: "10",
    threshold: "1.5",
    signature: SIGNATURE,
    requestId: REQUEST_ID,
    name: "swing",
    ...named,
    ...(name.endsWith("AtMs") || name === "ts" ? { [name]: nowMs } : {})
  }
  return Object.hasOwn(known, name) ? known[name] : undefined
}

const byPattern = ({ pattern = "" }: Schema, { mints }: Living): string => {
  if (pattern.includes("A-HJ-NP-Z")) {
    return pattern.includes("44") ? (mints[0] ?? USDC) : SIGNATURE
  }
  const [, prefix] = /^\^([a-z]+[_:])/u.exec(pattern) ?? []
  if (prefix !== undefined) {
    return `${prefix}main`
  }
  return pattern.includes("[0-9]") || pattern.includes("\\d") ? "1" : "text"
}

/** Optional fields that a sample request still contains. */
const SUGGESTED = new Set(["amount"])

interface Place {
  readonly schemas: Schemas
  readonly living: Living
  /** True to leave optional fields out. */
  readonly isRequest: boolean
  readonly name: string
  readonly depth: number
}

const DEEPEST = 16

const objectSample = ({ properties = {}, required = [] }: Schema, place: Place): unknown =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([name, schema]) =>
      place.isRequest && !required.includes(name) && !SUGGESTED.has(name)
        ? []
        : [[name, sampleAt(schema, { ...place, name, depth: place.depth + 1 })]]
    )
  )

const numberSample = ({ exclusiveMinimum, maximum, minimum, type }: Schema): number => {
  if (exclusiveMinimum !== undefined) {
    return type === "integer" ? exclusiveMinimum + 1 : Math.min(1, maximum ?? 1)
  }
  return minimum === undefined || minimum < 0 ? 1 : Math.max(minimum, 1)
}

const fits = (schemas: Schemas, { items, type }: Schema, value: unknown): boolean => {
  if (Array.isArray(value)) {
    return type === "array" && items !== undefined && resolve(schemas, items).schema.type === typeof value[0]
  }
  return type === undefined || type === typeof value || (type === "integer" && typeof value === "number")
}

const sampleAt = (schema: Schema, place: Place): unknown => {
  const { depth, living, name, schemas } = place
  const [variant] = alternatives(schemas, schema).variants
  const whole = variant === undefined ? {} : resolve(schemas, variant).schema
  const [given = whole.example] = whole.examples ?? []
  if (given !== undefined) {
    return given
  }
  if (variant === undefined || depth > DEEPEST) {
    return null
  }
  if (whole.anyOf !== undefined) {
    return sampleAt(whole, { ...place, depth: depth + 1 })
  }
  if (whole.enum !== undefined) {
    return whole.enum[0]
  }
  const named = byName(name, living)
  if (named !== undefined && fits(schemas, whole, named)) {
    return named
  }
  switch (whole.type) {
    case "object":
      return objectSample(whole, place)
    case "array":
      return whole.items === undefined
        ? []
        : [sampleAt(whole.items, { ...place, name: singular(name), depth: depth + 1 })]
    case "integer":
    case "number":
      return numberSample(whole)
    case "boolean":
      return true
    case "string":
      return byPattern(whole, living)
    default:
      return whole.properties === undefined ? null : objectSample(whole, place)
  }
}

const singular = (name: string): string => name.replace(/s$/u, "")

/** A sample value of a schema. In a request, optional fields are left out. */
export const sampleOf = (
  schemas: Schemas,
  { example, examples = {}, schema }: Media,
  living: Living,
  isRequest: boolean
) => {
  const [first] = Object.values(examples)
  return example ?? first?.value ?? sampleAt(schema, { schemas, living, isRequest, name: "", depth: 0 })
}

/** The text of a parameter for a first request; empty for a parameter that is better left out. */
export const parameterSample = (schemas: Schemas, parameter: Parameter, living: Living): string => {
  const { name, required, schema } = parameter
  // Required values come from the living market. Examples of the document belong to the market they were recorded with.
  if (!required && !SUGGESTED.has(name)) {
    return ""
  }
  return String(sampleAt(schema, { schemas, living, isRequest: true, name, depth: 0 }))
}

/** The values of a first request by parameter, and its body as JSON; null without a body. */
export const firstRequest = (
  schemas: Schemas,
  { parameters = [], requestBody }: OperationInfo,
  living: Living
): { readonly values: Readonly<Record<string, string>>; readonly body: string | null } => {
  const media = requestBody?.content?.["application/json"]
  return {
    values: Object.fromEntries(
      parameters.map((parameter) => [parameter.name, parameterSample(schemas, parameter, living)])
    ),
    body:
      media === undefined ? null : JSON.stringify(sampleOf(schemas, { schema: media.schema }, living, true), null, 2)
  }
}
