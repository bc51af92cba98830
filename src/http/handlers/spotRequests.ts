/** Turns requests of the spot endpoints into requests of the engine. Errors name the field. */
import { Effect } from "effect"
import type { ErrorDetail } from "../../api/errors/Problem.ts"
import type { InvalidRequest } from "../../api/errors/problems.ts"
import type { Position } from "../../api/schemas/ExitCheck.ts"
import type { QuoteRequest } from "../../api/schemas/Quote.ts"
import type { StreamTerms } from "../../api/schemas/QuoteStream.ts"
import { defaults, type ExitCheckBody, type QuoteQuery, type StreamQuery } from "../../api/Spot.ts"
import { SOL } from "../../domain/Address.ts"
import { MAX_U64 } from "../../domain/Amount.ts"
import { numberText, plainDecimal, shareOf, toAtomic } from "../../domain/decimal.ts"
import { programs } from "../../programs/registry.ts"
import { invalid } from "../problems.ts"

const SOL_DECIMALS = 9

/** Venue labels that a request may name. */
export const venueLabels: ReadonlySet<string> = new Set(programs.map(({ dex }) => dex))

/** A 400 for a venue label that does not exist. */
export const unknownVenue = (part: ErrorDetail["in"], field: string): InvalidRequest => {
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
  if (rest.venues?.some((venue) => !venueLabels.has(venue)) === true) {
    return yield* unknownVenue("query", "venues")
  }
  const amount = rest.amount ?? (yield* atomicOf("query", uiAmount, inputDecimals))
  const request: QuoteRequest = { ...rest, amount, slippageBps }
  return request
})

/** The terms of `GET /spot/quote/stream`. */
export const streamTerms = (query: typeof StreamQuery.Type): StreamTerms => ({
  inputMint: query.inputMint,
  outputMint: query.outputMint,
  amount: query.amount,
  outputDecimals: query.outputDecimals ?? null,
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
