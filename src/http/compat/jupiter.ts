/** Jupiter: quotes of its Swap API v1, prices of Price API v3, and the search of Tokens API v2. */
import { Effect } from "effect"
import type { TokenStatsAnswer } from "../../api/Market.ts"
import type { SearchAnswer } from "../../api/Search.ts"
import type { SpotQuote } from "../../api/schemas/Quote.ts"
import type { TokenFacts } from "../../api/schemas/Token.ts"
import { addressOf } from "../../domain/Address.ts"
import { isoOf, numberOf, tokensOf, withoutUnknown } from "./figures.ts"
import { type Call, invalid, refuse, type Service } from "./service.ts"
import { factsOf, mintsIn } from "./tokens.ts"
import { namesOf, venueOf } from "./venues.ts"

/** The most mints of one request for prices. */
const MOST_PRICES = 50

/** The most mints of one search. */
const MOST_MINTS = 100

type Quote = typeof SpotQuote.Encoded

const venuesIn = (value: string): string =>
  value
    .split(",")
    .map((label) => venueOf(label.trim()))
    .join(",")

/** What a parameter of Jupiter becomes in our own request. Parameters that only shape a transaction are left out. */
const quoteParameters: Readonly<Record<string, (value: string) => readonly [string, string]>> = {
  inputMint: (value) => ["inputMint", value],
  outputMint: (value) => ["outputMint", value],
  amount: (value) => ["amount", value],
  slippageBps: (value) => ["slippageBps", value],
  swapMode: (value) => ["swapMode", value === "ExactOut" ? "exactOut" : value === "ExactIn" ? "exactIn" : value],
  dexes: (value) => ["venues", venuesIn(value)],
  excludeDexes: (value) => ["excludeVenues", venuesIn(value)],
  onlyDirectRoutes: (value) => ["directOnly", value]
}

/** Parameters that would change what is quoted, and that we do not serve. */
const unserved = (query: URLSearchParams): string | null => {
  if (!["", "0", "undefined"].includes(query.get("platformFeeBps") ?? "")) {
    return "platformFeeBps is not served: quotes are made without a fee of the integrator."
  }
  return query.get("dynamicSlippage") === "true" ? "dynamicSlippage is not served: send slippageBps." : null
}

/** Units of the output that the pools pay, before the fee of this deployment. */
const payoutOf = ({ outputMint, route }: Quote): bigint =>
  route.reduce((sum, hop) => (hop.outputMint === outputMint ? sum + BigInt(hop.amountOut) : sum), 0n)

/** The fee of this deployment, where it is taken from the output. */
const platformFeeOf = (quote: Quote) => {
  const payout = payoutOf(quote)
  const amount = payout - BigInt(quote.outAmount)
  return quote.feeBasis !== "net" || amount <= 0n
    ? null
    : { amount: amount.toString(), feeBps: Number((amount * 20_000n + payout) / (2n * payout)) }
}

/** A share of the route in whole percent where it is one, and always in basis points. */
const shareOf = (percent: number) => ({
  percent: Number.isInteger(percent) ? percent : null,
  bps: Math.round(percent * 100)
})

/** Our quote as Jupiter writes it. Their price impact is a fraction of one; below the noise of 0.1 % it is 0. */
export const quoteAnswer = (quote: Quote) => ({
  inputMint: quote.inputMint,
  inAmount: quote.inAmount,
  outputMint: quote.outputMint,
  outAmount: quote.outAmount,
  otherAmountThreshold: quote.maxInAmount ?? quote.minOutAmount,
  swapMode: quote.swapMode === "exactOut" ? "ExactOut" : "ExactIn",
  slippageBps: quote.slippageBps,
  platformFee: platformFeeOf(quote),
  priceImpactPct: String((quote.priceImpactPct ?? 0) / 100),
  routePlan: quote.route.map((hop) => ({
    swapInfo: {
      ammKey: hop.pool,
      label: namesOf(hop.dex).jupiter,
      inputMint: hop.inputMint,
      outputMint: hop.outputMint,
      inAmount: hop.amountIn,
      outAmount: hop.amountOut
    },
    ...shareOf(hop.percent)
  })),
  contextSlot: quote.contextSlot,
  timeTaken: quote.engineTimeMs / 1000,
  ...(quote.swapUsdValue !== null && { swapUsdValue: String(quote.swapUsdValue) })
})

const quote = ({ ask, query }: Call) =>
  Effect.gen(function* () {
    const reason = unserved(query)
    if (reason !== null) {
      return yield* invalid(reason)
    }
    const own = new URLSearchParams()
    for (const [name, value] of query) {
      const parameter = quoteParameters[name]
      if (parameter !== undefined && value !== "") {
        own.append(...parameter(value))
      }
    }
    const found = yield* ask<Quote>(`/api/v1/spot/quote?${own}`)
    return found.clamped
      ? yield* refuse(
          400,
          "ROUTE_PLAN_DOES_NOT_CONSUME_ALL_THE_AMOUNT",
          "The pools of this pair cannot take the whole amount."
        )
      : quoteAnswer(found)
  })

/** Prices by mint. A token without a known price is left out, as Jupiter does. */
const prices = ({ ask, query }: Call) =>
  Effect.gen(function* () {
    const mints = yield* mintsIn(query.get("ids") ?? "", MOST_PRICES)
    const found = yield* factsOf(ask, mints)
    return Object.fromEntries(
      found.flatMap((facts) => {
        const usdPrice = numberOf(facts.priceUsd)
        return usdPrice === null ? [] : [[facts.token.address, { ...priceOf(facts), usdPrice }]]
      })
    )
  })

const priceOf = ({ createdAtMs, liquidityUsd, token }: typeof TokenFacts.Encoded) => ({
  ...withoutUnknown({ createdAt: isoOf(createdAtMs), liquidity: numberOf(liquidityUsd) }),
  blockId: null,
  decimals: token.decimals,
  priceChange24h: null
})

const programs = {
  "spl-token": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
  "token-2022": "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"
} as const

type Known = Pick<
  typeof TokenFacts.Encoded,
  | "authoritiesKnown"
  | "createdAtMs"
  | "freezeAuthority"
  | "liquidityUsd"
  | "marketCapUsd"
  | "mintAuthority"
  | "priceUsd"
  | "token"
>

/** What the search and the facts of a token have in common. Their market cap is our supply times the price. */
const mintOf = (known: Known) => {
  const { authoritiesKnown, freezeAuthority, mintAuthority, token } = known
  return {
    id: token.address,
    ...withoutUnknown({
      name: token.name,
      symbol: token.symbol,
      decimals: token.decimals,
      createdAt: isoOf(known.createdAtMs),
      mintAuthority,
      freezeAuthority
    }),
    icon: token.imageUrl,
    fdv: numberOf(known.marketCapUsd),
    mcap: null,
    usdPrice: numberOf(known.priceUsd),
    priceBlockId: null,
    liquidity: numberOf(known.liquidityUsd),
    holderCount: null as number | null,
    isVerified: null,
    audit: authoritiesKnown
      ? { mintAuthorityDisabled: mintAuthority === null, freezeAuthorityDisabled: freezeAuthority === null }
      : null
  }
}

const mintOfFacts = (facts: typeof TokenFacts.Encoded) => ({
  ...mintOf(facts),
  ...withoutUnknown({ tokenProgram: facts.tokenProgram && programs[facts.tokenProgram] }),
  totalSupply: tokensOf(facts.supply, facts.token.decimals),
  circSupply: null,
  holderCount: numberOf(facts.holders)
})

const statsOf = (windows: (typeof TokenStatsAnswer.Encoded)["data"]["windows"]) =>
  Object.fromEntries(
    windows.map(({ buyVolumeUsd, buys, changePct, sellVolumeUsd, sells, traders, window }) => [
      `stats${window}`,
      {
        priceChange: numberOf(changePct),
        buyVolume: numberOf(buyVolumeUsd),
        sellVolume: numberOf(sellVolumeUsd),
        numBuys: numberOf(buys),
        numSells: numberOf(sells),
        numTraders: numberOf(traders)
      }
    ])
  )

/** One mint with the activity of its windows. */
const oneMint = (ask: Call["ask"], mint: string) =>
  Effect.gen(function* () {
    const [facts] = yield* factsOf(ask, [mint])
    if (facts === undefined) {
      return []
    }
    const { data } = yield* ask<typeof TokenStatsAnswer.Encoded>(`/api/v1/tokens/solana/${mint}/stats`)
    return [{ ...mintOfFacts(facts), ...statsOf(data.windows) }]
  })

const search = ({ ask, query }: Call) =>
  Effect.gen(function* () {
    const text = (query.get("query") ?? "").trim()
    const isMints = text.split(",").every((mint) => addressOf(mint.trim()) !== undefined)
    if (isMints) {
      const mints = yield* mintsIn(text, MOST_MINTS)
      return mints.length === 1 ? yield* oneMint(ask, mints.join()) : (yield* factsOf(ask, mints)).map(mintOfFacts)
    }
    const { data } = yield* ask<typeof SearchAnswer.Encoded>(`/api/v1/search?${new URLSearchParams({ q: text })}`)
    return data.map((row) => ({ ...mintOf(row), ...withoutUnknown({ launchpad: row.launchpad }) }))
  })

/** Codes of Jupiter for ours. Any other code is ours in capitals. */
const codes: Readonly<Record<string, readonly [number, string]>> = {
  no_route: [400, "COULD_NOT_FIND_ANY_ROUTE"],
  route_not_supported: [400, "COULD_NOT_FIND_ANY_ROUTE"],
  token_not_found: [400, "TOKEN_NOT_TRADABLE"]
}

const TRANSACTIONS =
  /^\/(?:swap\/v[12]\/(?:swap|swap-instructions|build|order|execute)|v6\/swap|ultra\/|trigger\/|recurring\/|send\/|studio\/)/u

export const jupiter: Service = {
  prefix: "/compat/jupiter",
  keyHeaders: [],
  reads: [
    { path: "/swap/v1/quote", answer: quote },
    { path: "/v6/quote", answer: quote },
    { path: "/price/v3", answer: prices },
    { path: "/tokens/v2/search", answer: search }
  ],
  refusal: ({ code, message, status: ours }) => {
    const [status, errorCode] = codes[code] ?? [ours, code.toUpperCase()]
    return { status, body: { error: message, errorCode } }
  },
  notOffered: (_, path) =>
    TRANSACTIONS.test(path) ? "Fathom builds, signs and sends no transactions. It quotes them." : null
}
