import { Effect } from "effect"
import { defaults } from "../../api/Spot.ts"
import { addressOf, type Mint } from "../../domain/Address.ts"
import { MAX_U64 } from "../../domain/Amount.ts"
import { QuoteEngine } from "../../quotes/QuoteEngine.ts"
import { quoteText } from "../streams/wireQuote.ts"
import type { Shortcut } from "./fastPath.ts"
import type { QuoteRequest } from "../../api/schemas/Quote.ts"

const ATOMIC = /^[1-9][0-9]{0,19}$/u
const SMALL = /^(?:0|[1-9][0-9]{0,3})$/u

const amountOf = (text: string): bigint | undefined => {
  const amount = ATOMIC.test(text) ? BigInt(text) : 0n
  return amount > 0n && amount <= MAX_U64 ? amount : undefined
}

const integerOf = (text: string, minimum: number, maximum: number): number | undefined => {
  const value = SMALL.test(text) ? Number(text) : -1
  return value >= minimum && value <= maximum ? value : undefined
}

/** The value of a parameter that may occur once: undefined when it is malformed or occurred before. */
const once = <A>(present: A | undefined, value: A | undefined): A | undefined =>
  present === undefined ? value : undefined

/**
 * The request of a quote query (without `?`) that uses only `inputMint`, `outputMint`, `amount`, `slippageBps` and
 * `outputDecimals`, each at most once and without escapes. Undefined for every other query, valid or not: the schema
 * `QuoteQuery` decides about those. It makes one pass and no copies, because every quote passes here.
 */
export const plainQuoteQuery = (query: string): QuoteRequest | undefined => {
  let inputMint: Mint | undefined
  let outputMint: Mint | undefined
  let amount: bigint | undefined
  let slippageBps: number | undefined
  let outputDecimals: number | undefined

  let start = 0
  while (start <= query.length) {
    const next = query.indexOf("&", start)
    const end = next === -1 ? query.length : next
    const equals = query.indexOf("=", start)
    // When `=` is missing or belongs to a later parameter, the name is unknown.
    const value = query.slice(equals + 1, end)
    let read: unknown
    switch (query.slice(start, equals)) {
      case "inputMint":
        read = inputMint = once(inputMint, addressOf(value))
        break
      case "outputMint":
        read = outputMint = once(outputMint, addressOf(value))
        break
      case "amount":
        read = amount = once(amount, amountOf(value))
        break
      case "slippageBps":
        read = slippageBps = once(slippageBps, integerOf(value, 1, 1000))
        break
      case "outputDecimals":
        read = outputDecimals = once(outputDecimals, integerOf(value, 0, 18))
        break
      default:
        return undefined
    }
    if (read === undefined) {
      return undefined
    }
    start = end + 1
  }

  if (inputMint === undefined || outputMint === undefined || amount === undefined || inputMint === outputMint) {
    return undefined
  }
  return { inputMint, outputMint, amount, slippageBps: slippageBps ?? defaults.quoteSlippageBps, outputDecimals }
}

/** The shortcut of quotes. */
export const quoteShortcut: Effect.Effect<Shortcut, never, QuoteEngine> = Effect.map(QuoteEngine, (engine) => ({
  operation: "spot.quote",
  path: "/api/v1/spot/quote?",
  begin: (query) => {
    const request = plainQuoteQuery(query)
    return request && engine.quote(request)
  },
  text: quoteText
}))
