/** Facts of several tokens: a row for each, with a state in place of an error. */
import { Effect } from "effect"
import type { Mint } from "../domain/Address.ts"
import type { Knowledge, TokenFacts, TokenRefusal } from "../api/schemas/Token.ts"
import type { TokenLookup } from "../api/schemas/TokenLookup.ts"
import { type Scalar, unavailable } from "../domain/Scalar.ts"
import { knowledgeOf } from "./scalars.ts"

/** One token with the time of its observation. */
export interface FactsReading {
  readonly data: TokenFacts
  readonly knowledge: Knowledge
}

const waiting = (refusal: TokenRefusal): Pick<TokenLookup, "retryAfterMs" | "state"> => {
  switch (refusal._tag) {
    case "UnknownToken":
      return { state: "not_found", retryAfterMs: null }
    case "TokenMalformed":
      return { state: "malformed", retryAfterMs: null }
    case "TokenNotLoaded":
      return { state: "loading", retryAfterMs: refusal.readyInMs ?? null }
    case "TooManyColdMints":
      return { state: "deferred", retryAfterMs: refusal.fitsInMs }
  }
}

const NOT_LOADED = unavailable("usd", "not_captured")

/** The scalars that decide how well a row is known. A mint that is known not to exist has none. */
const scalarsOf = ({ facts, state }: TokenLookup): ReadonlyArray<Scalar> => {
  if (facts === null) {
    return state === "not_found" ? [] : [NOT_LOADED]
  }
  return [facts.priceUsd, facts.priceSol, facts.marketCapUsd, facts.liquidityUsd, facts.volume24hUsd, facts.holders]
}

/** A row for each mint, in order. */
export const lookUpTokens = Effect.fnUntraced(function* (
  mints: ReadonlyArray<Mint>,
  factsOf: (mint: Mint) => Effect.Effect<FactsReading, TokenRefusal>
) {
  const times: Array<number> = []
  const data = yield* Effect.forEach(mints, (address) =>
    factsOf(address).pipe(
      Effect.map(({ data, knowledge }): TokenLookup => {
        times.push(...(knowledge.observedAtMs === null ? [] : [knowledge.observedAtMs]))
        return { address, state: "found", facts: data, retryAfterMs: null }
      }),
      Effect.catch((refusal) => Effect.succeed<TokenLookup>({ address, facts: null, ...waiting(refusal) }))
    )
  )
  return { data, knowledge: knowledgeOf(data.flatMap(scalarsOf), times.length === 0 ? null : Math.max(...times)) }
})
