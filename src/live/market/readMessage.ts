/** Messages of clients of the market socket. */
import { Result, Schema, SchemaIssue } from "effect"
import {
  type Channel,
  type SubscribeMessage,
  subscribeMessages,
  UnsubscribeMessage
} from "../../api/schemas/MarketFrame.ts"
import type { Fault } from "../LiveConnection.ts"

/** A well-formed message. */
export type MarketMessage = SubscribeMessage | typeof UnsubscribeMessage.Type

const strict = { onExcessProperty: "error" } as const

const decoders: Readonly<Record<Channel, (value: unknown) => Result.Result<SubscribeMessage, Schema.SchemaError>>> = {
  trades: Schema.decodeUnknownResult(subscribeMessages.trades, strict),
  liquidity: Schema.decodeUnknownResult(subscribeMessages.liquidity, strict),
  candles: Schema.decodeUnknownResult(subscribeMessages.candles, strict),
  price: Schema.decodeUnknownResult(subscribeMessages.price, strict),
  launches: Schema.decodeUnknownResult(subscribeMessages.launches, strict),
  graduations: Schema.decodeUnknownResult(subscribeMessages.graduations, strict),
  movers: Schema.decodeUnknownResult(subscribeMessages.movers, strict),
  screen: Schema.decodeUnknownResult(subscribeMessages.screen, strict),
  holders: Schema.decodeUnknownResult(subscribeMessages.holders, strict),
  quote: Schema.decodeUnknownResult(subscribeMessages.quote, strict),
  freshness: Schema.decodeUnknownResult(subscribeMessages.freshness, strict)
}

const decodeUnsubscribe = Schema.decodeUnknownResult(UnsubscribeMessage, strict)

const isChannel = (value: unknown): value is Channel => typeof value === "string" && Object.hasOwn(decoders, value)

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const LONGEST_ID = 64

/** The error of a message, with the wrong field and the id from the message. */
const invalid = (message: object | null, field: string | null, text: string): Fault => {
  const id =
    message !== null && "id" in message && typeof message.id === "string" ? message.id.slice(0, LONGEST_ID) : null
  return { code: "invalid_message", message: text, detail: { id, field } }
}

const ofIssue = (message: object, { issue }: Schema.SchemaError): Fault => {
  const [first] = format(issue).issues
  const field = (first?.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".")
  return field === ""
    ? invalid(message, null, "The message is malformed.")
    : invalid(message, field, `${field} is missing, unknown or malformed.`)
}

/** Reads a client's message. Returns the message, or its fault. */
export const readMessage = (
  message: { readonly op: unknown; readonly channel?: unknown } | null
): Result.Result<MarketMessage, Fault> => {
  if (message === null) {
    return Result.fail(invalid(null, null, "Send subscribe, unsubscribe or ping as a JSON object."))
  }
  if (message.op === "unsubscribe") {
    return Result.mapError(decodeUnsubscribe(message), (error) => ofIssue(message, error))
  }
  if (message.op !== "subscribe") {
    return Result.fail(invalid(message, "op", "op must be subscribe, unsubscribe or ping."))
  }
  if (!isChannel(message.channel)) {
    return Result.fail(invalid(message, "channel", `channel must be one of ${Object.keys(decoders).join(", ")}.`))
  }
  return Result.mapError(decoders[message.channel](message), (error) => ofIssue(message, error))
}
