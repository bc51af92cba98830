/** Several trades priced at one state, some of them in both directions. Pure. */
import { Result } from "effect"
import type { QuoteRequest } from "../api/schemas/Quote.ts"
import type { QuoteSide, SpotQuotes } from "../api/schemas/SpotQuotes.ts"
import { describeRefusal } from "./describeRefusal.ts"
import type { Priced } from "./QuoteEngine.ts"

/** A trade to price, and whether the way back is wanted too. */
export interface BatchTrade {
  readonly request: QuoteRequest
  readonly twoSided: boolean
}

/** The trade that sells the quote's output back, under the same filters. */
const backOf = (request: QuoteRequest, outAmount: bigint): QuoteRequest => ({
  ...request,
  inputMint: request.outputMint,
  outputMint: request.inputMint,
  amount: outAmount,
  swapMode: "exactIn",
  outputDecimals: undefined
})

/** The trades back, for `QuoteEngine.quoteAll`. A trade without a price has no way back. */
export const tradesBack =
  (trades: ReadonlyArray<BatchTrade>) =>
  (answers: ReadonlyArray<Priced>): ReadonlyArray<QuoteRequest> =>
    trades.flatMap(({ request, twoSided }, i) => {
      const answer = answers[i]
      return twoSided && answer !== undefined && Result.isSuccess(answer)
        ? [backOf(request, answer.success.outAmount)]
        : []
    })

const sideOf = (answer: Priced): QuoteSide => {
  if (Result.isSuccess(answer)) {
    return { quote: answer.success, error: null }
  }
  const { code, message, retryable } = describeRefusal(answer.failure)
  return { quote: null, error: { code, message, retryable } }
}

/** The answer of a batch. `answers` has one entry for each trade, in order, then one for each trade back. */
export const batchAnswer = (trades: ReadonlyArray<BatchTrade>, answers: ReadonlyArray<Priced>): SpotQuotes => {
  const backs = answers.slice(trades.length).map(sideOf)
  const quotes = answers.slice(0, trades.length).map((answer, i) => {
    const hasBack = trades[i]?.twoSided === true && Result.isSuccess(answer)
    return { ...sideOf(answer), reverse: hasBack ? (backs.shift() ?? null) : null }
  })
  return { quotes, priced: answers.filter(Result.isSuccess).length }
}

/** Units that the answers cost: one for each that did not fail on the side of the service, and at least one. */
export const unitsOf = (answers: ReadonlyArray<Priced>): number =>
  Math.max(
    1,
    answers.filter((answer) => Result.isSuccess(answer) || !describeRefusal(answer.failure).isOurFault).length
  )
