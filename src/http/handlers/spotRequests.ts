/** Turns requests of the spot endpoints into requests of the engine. Errors name the field. */
import { Effect, type Schema } from "effect"
import type { ErrorDetail } from "../../api/errors/Problem.ts"
import type { InvalidRequest } from "../../api/errors/problems.ts"
import type { Position } from "../../api/schemas/ExitCheck.ts"
import type { QuoteRequest } from "../../api/schemas/Quote.ts"
import type { StreamTerms } from "../../api/schemas/QuoteStream.ts"
import {
  defaults,
  type ExitCheckBody,
  type QuoteQuery,
  type SpotQuotesBody,
  type StreamQuery,
  type tradeFields
} from "../../api/Spot.ts"
import { SOL } from "../../domain/Address.ts"
import { MAX_U64 } from "../../domain/Amount.ts"
import { numberText, plainDecimal, shareOf, toAtomic } from "../../domain/decimal.ts"
import { executedPrograms, programs } from "../../programs/registry.ts"
import type { BatchTrade } from "../../quotes/batchQuotes.ts"
import { invalid } from "../problems.ts"

const SOL_DECIMALS = 9

/** Venue labels that a request may name. */
const venueLabels: ReadonlySet<string> = new Set([...programs, ...executedPrograms].map(({ dex }) => dex))

const venueFilters = ["venues", "excludeVenues"] as const

/** A 400 for a venue label that does not exist. */
const unknownVenue = (part: ErrorDetail["in"], field: string): InvalidRequest => {
  const known = Array.from(venueLabels).toSorted().join(", ")
  return invalid({ in: part, field, issue: "unknown" }, `${field} must be one of ${known}.`)
}

/**
 * Atomic units of a decimal amount in whole tokens. Fails when the amount is finer than `decimals` or outside 1..u64.
 */
const atomicOf = (where: "query" | "body", text: string, decimals: number): Effect.Effect<bigint, InvalidRequest> => {
  const amount = toAtomic(text, decimals)
  const detail = { in: where, field: "uiAmount" }
  if (amount === "format") {
    return Effect.fail(invalid({ ...detail, issue: "format" }, "uiAmount must be a plain decimal number."))
  }
  if (amount === "too_fine") {
    const message = `uiAmount must have at most ${decimals} fraction digits.`
    return Effect.fail(invalid({ ...detail, issue: "format" }, message))
  }
  return amount > 0n && amount <= MAX_U64
    ? Effect.succeed(amount)
    : Effect.fail(invalid({ ...detail, issue: "out_of_range" }, `uiAmount must be from 1 to ${MAX_U64} atomic units.`))
}

/** The request of `GET /spot/quote`. */
export const quoteRequest = Effect.fnUntraced(function* (query: typeof QuoteQuery.Type) {
  const { uiAmount = "", inputDecimals = 0, slippageBps = defaults.quoteSlippageBps, ...rest } = query
  for (const filter of venueFilters) {
    if (rest[filter]?.some((venue) => !venueLabels.has(venue)) === true) {
      return yield* unknownVenue("query", filter)
    }
  }
  const decimals = rest.swapMode === "exactOut" ? (rest.outputDecimals ?? 0) : inputDecimals
  const amount = rest.amount ?? (yield* atomicOf("query", uiAmount, decimals))
  const request: QuoteRequest = { ...rest, amount, slippageBps }
  return request
})

/** The request of a trade in a body. `path` leads to the trade, as in `quotes.3.`; it is empty at the top. */
export const tradeRequest = (
  { slippageBps = defaults.quoteSlippageBps, ...rest }: Schema.Struct.Type<typeof tradeFields>,
  path = ""
): Effect.Effect<QuoteRequest, InvalidRequest> => {
  for (const filter of venueFilters) {
    const unknown = rest[filter]?.findIndex((venue) => !venueLabels.has(venue)) ?? -1
    if (unknown !== -1) {
      return Effect.fail(unknownVenue("body", `${path}${filter}.${unknown}`))
    }
  }
  return Effect.succeed({ ...rest, slippageBps })
}

/** The trades of `POST /spot/quotes`. */
export const batchTrades = ({ quotes }: typeof SpotQuotesBody.Type): Effect.Effect<Array<BatchTrade>, InvalidRequest> =>
  Effect.forEach(quotes, ({ twoSided = false, ...trade }, i) =>
    Effect.map(tradeRequest(trade, `quotes.${i}.`), (request) => ({ request, twoSided }))
  )

/** The terms of `GET /spot/quote/stream`. */
export const streamTerms = (query: typeof StreamQuery.Type): StreamTerms => ({
  inputMint: query.inputMint,
  outputMint: query.outputMint,
  amount: query.amount,
  outputDecimals: query.outputDecimals ?? null,
  ...(query.swapMode === "exactOut" && { swapMode: query.swapMode }),
  slippageBps: query.slippageBps ?? defaults.quoteSlippageBps,
  intervalMs: query.intervalMs ?? defaults.intervalMs,
  durationSeconds: query.durationSeconds ?? defaults.durationSeconds,
  changesOnly: query.changesOnly ?? false
})

/** Decimals of the proceeds, from the request or for SOL; null when the request does not state them. */
export const quoteDecimalsOf = ({
  quoteDecimals,
  quoteMint = SOL
}: Pick<typeof ExitCheckBody.Type, "quoteDecimals" | "quoteMint">): number | null =>
  quoteDecimals ?? (quoteMint === SOL ? SOL_DECIMALS : null)

/** The position of `POST /spot/exit-check`. `uiAmount` is the text of that field as it was sent. */
export const exitPosition = Effect.fnUntraced(function* (body: typeof ExitCheckBody.Type, uiAmount = "") {
  const { decimals = null, ladder = defaults.ladder, mint, quoteMint = SOL } = body
  const amount = body.amount ?? (yield* atomicOf("body", plainDecimal(uiAmount) ?? "", decimals ?? 0))
  const rungs = ladder.map((fraction) => ({ fraction, amount: shareOf(amount, numberText(fraction) ?? "") ?? 0n }))
  const empty = rungs.findIndex((rung) => rung.amount === 0n)
  if (empty !== -1) {
    const detail: ErrorDetail = { in: "body", field: `ladder.${empty}`, issue: "out_of_range" }
    return yield* invalid(detail, `ladder.${empty} must amount to at least one atomic unit.`)
  }
  const position: Position = {
    mint,
    quoteMint,
    amount,
    decimals,
    quoteDecimals: quoteDecimalsOf(body),
    slippageBps: body.slippageBps ?? defaults.exitSlippageBps,
    ladder: rungs
  }
  return position
})
