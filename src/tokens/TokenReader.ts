import { Clock, Context, Effect, Layer } from "effect"
import { type Address, type Mint, SOL, USDC } from "../domain/Address.ts"
import { fromAtomic } from "../domain/decimal.ts"
import {
  bareToken,
  type Knowledge,
  type MintPrice,
  type PoolFacts,
  type TokenFacts,
  type TokenLiquidity,
  TokenMalformed,
  TokenNotLoaded,
  type TokenRef,
  type TokenRefusal,
  UnknownPool,
  UnknownToken
} from "../api/schemas/Token.ts"
import { TooManyColdMints } from "../api/schemas/Quote.ts"
import { PoolBook } from "../quotes/pools/PoolBook.ts"
import { Requester } from "../quotes/pools/Requester.ts"
import type { HolderHour, TokenHolders } from "../api/schemas/TokenHolders.ts"
import type { TokenMetadataView } from "../api/schemas/TokenMetadata.ts"
import { DocumentReader, type DocumentReads } from "./documents/DocumentReader.ts"
import { metadataReading } from "./metadataReading.ts"
import { ActivityReader } from "./ActivityReader.ts"
import { authoritiesOf } from "./authorities.ts"
import {
  type HolderHistoryRead,
  type HolderHistoryUnavailable,
  HolderReader,
  type HoldersRequest,
  unknownFigures
} from "./HolderReader.ts"
import { baseMintOf, depthOf, poolRow } from "./liquidity.ts"
import { PriceBook, type UnitPrice } from "./PriceBook.ts"
import { knowledgeOf, marketCapScalar, priceScalar, usdScalar } from "./scalars.ts"
import { TokenBook } from "./TokenBook.ts"
import type { TokenState } from "./TokenCache.ts"

/** Data with its overall status and coverage. */
export interface TokenReading<A> {
  readonly data: A
  readonly knowledge: Knowledge
}

type Token = TokenState & { readonly _tag: "Token" }

/** Facts, liquidity and prices of tokens, from memory. Missing data is queued for loading and not awaited. */
export class TokenReader extends Context.Service<
  TokenReader,
  {
    factsOf(mint: Mint): Effect.Effect<TokenReading<TokenFacts>, TokenRefusal>
    /** Decimals of the mint; null when its account is not in memory or is not a mint. */
    decimalsOf(mint: Mint): Effect.Effect<number | null>
    /** The deepest `limit` pools of the token. The sum covers all pools. */
    liquidityOf(mint: Mint, limit: number): Effect.Effect<TokenReading<TokenLiquidity>, TokenRefusal>
    /** Holders of the token and its `limit` largest owners. The token is followed from now on. */
    holdersOf(
      mint: Mint,
      limit: number,
      after?: HoldersRequest["after"]
    ): Effect.Effect<TokenReading<TokenHolders>, TokenRefusal>
    /** Hourly snapshots of the holders of the token, newest first. The token is followed from now on, if there is room. */
    holderHistoryOf(
      request: HolderHistoryRead
    ): Effect.Effect<ReadonlyArray<HolderHour>, HolderHistoryUnavailable | TokenRefusal>
    /** Metadata of the token: the part on chain and the document, which is queued to be read. */
    metadataOf(mint: Mint): Effect.Effect<TokenReading<TokenMetadataView>, TokenRefusal>
    /** One pool in memory, from the side of its token. */
    poolOf(pool: Address): Effect.Effect<TokenReading<PoolFacts>, UnknownPool>
    /** One row for every mint, in order. */
    pricesOf(mints: ReadonlyArray<Mint>): Effect.Effect<TokenReading<ReadonlyArray<MintPrice>>>
  }
>()("fathom/tokens/TokenReader") {
  static readonly layer: Layer.Layer<TokenReader, never, TokenBook | PriceBook | PoolBook | ActivityReader> =
    Layer.suspend(() => Layer.effect(TokenReader, make))
}

/** The books that every read needs, and how a read queues a token that they lack. */
const makeBooks = Effect.gen(function* () {
  const tokens = yield* TokenBook
  const priceBook = yield* PriceBook
  const pools = yield* PoolBook
  const documents = yield* DocumentReader
  const refOf = makeTokenRefs(documents)

  // Pools first, because the pool book limits how many mints a key may have loading.
  const warm = Effect.fnUntraced(function* (mint: Mint) {
    const loading = yield* pools.warm(mint)
    yield* loading._tag === "TooMany" ? Effect.void : Effect.andThen(tokens.warm(mint), priceBook.warm(mint))
    return loading
  })

  const notLoaded = Effect.fnUntraced(function* (mint: Mint) {
    const loading = yield* warm(mint)
    switch (loading._tag) {
      case "Loaded":
        return yield* new TokenNotLoaded({ mint })
      case "Queued":
        return yield* new TokenNotLoaded({ mint, readyInMs: loading.readyInMs })
      case "TooMany":
        return yield* new TooManyColdMints({ mint, fitsInMs: loading.fitsInMs })
    }
  })

  const tokenAt = Effect.fnUntraced(function* (mint: Mint): Effect.fn.Return<Token, TokenRefusal> {
    const state = tokens.read(mint)
    if (state === null) {
      return yield* notLoaded(mint)
    }
    switch (state._tag) {
      case "NoToken":
        return yield* new UnknownToken({ mint })
      case "Malformed":
        return yield* new TokenMalformed({ mint, detail: state.detail })
      case "Token":
        return state
    }
  })

  return { documents, notLoaded, pools, priceBook, refOf, tokenAt, tokens, warm }
})

type Books = Effect.Success<typeof makeBooks>

const makeTokenReads = Effect.fnUntraced(function* ({
  documents,
  pools,
  priceBook,
  refOf,
  tokenAt,
  tokens,
  warm
}: Books) {
  const activity = yield* ActivityReader
  const holders = yield* HolderReader

  const factsOf = Effect.fn("TokenReader.factsOf")(function* (mint: Mint) {
    const state = yield* tokenAt(mint)
    const nowMs = yield* Clock.currentTimeMillis
    const prices = priceBook.at(nowMs)
    const price = prices.of(mint)
    if (price === null) {
      yield* priceBook.warm(mint)
    }
    const token = refOf(mint, state)
    const supply = supplyOf(mint, state)
    const depth = pools.isLoaded(mint) ? depthOf(pools.poolsOf(mint), prices, pools.lacking(mint)) : null
    const { createdAtMs, firstSeenAtMs, holders, volume24hUsd } = activity.activityOf(mint, nowMs)
    const scalars = {
      priceUsd: priceScalar(prices, price, token.decimals, "usd", nowMs),
      priceSol: priceScalar(prices, price, token.decimals, "sol", nowMs),
      marketCapUsd: marketCapScalar(prices, price, supply, nowMs),
      liquidityUsd: usdScalar(prices, depth?.micro ?? null, depth?.lacking ?? null, nowMs),
      volume24hUsd,
      holders
    }
    return {
      data: {
        token,
        supply,
        ...authoritiesOf({ ...state, commitment: tokens.commitment }, nowMs),
        ...scalars,
        firstSeenAtMs,
        createdAtMs
      },
      knowledge: knowledgeOf(Object.values(scalars), state.observation.observedAtMs)
    }
  })

  const readDecimals = Effect.fn("TokenReader.decimalsOf")(function* (mint: Mint) {
    const decimals = decimalsOf(mint, tokens.read(mint))
    if (decimals === null) {
      yield* tokens.warm(mint)
    }
    return decimals
  })

  const holdersOf = Effect.fn("TokenReader.holdersOf")(function* (
    mint: Mint,
    limit: number,
    after: HoldersRequest["after"] = null
  ) {
    const state = yield* tokenAt(mint)
    if (!pools.isLoaded(mint)) {
      // Concentrations leave pools out, so the pools have to be loaded.
      yield* pools.warm(mint)
    }
    const nowMs = yield* Clock.currentTimeMillis
    const tokenProgram = state.facts?.tokenProgram ?? null
    const figures =
      tokenProgram === null
        ? unknownFigures("not_captured")
        : holders.holdersOf({ mint, tokenProgram, limit, after, nowMs })
    return {
      data: { token: refOf(mint, state), ...figures },
      knowledge: {
        status: figures.holders.status,
        coverage: figures.holders.coverage,
        observedAtMs: figures.holders.observedAtMs
      }
    }
  })

  const holderHistoryOf = Effect.fn("TokenReader.holderHistoryOf")(function* (request: HolderHistoryRead) {
    const { mint } = request
    const state = yield* tokenAt(mint)
    if (!pools.isLoaded(mint)) {
      yield* pools.warm(mint)
    }
    if (state.facts !== null) {
      holders.suggest(mint, state.facts.tokenProgram, yield* Clock.currentTimeMillis)
    }
    return yield* holders.historyOf(request)
  })

  const metadataOf = Effect.fn("TokenReader.metadataOf")(function* (mint: Mint) {
    const state = yield* tokenAt(mint)
    const nowMs = yield* Clock.currentTimeMillis
    return metadataReading(state, refOf(mint, state), documents, { nowMs, requester: yield* Requester })
  })

  const pricesOf = Effect.fn("TokenReader.pricesOf")(function* (mints: ReadonlyArray<Mint>) {
    const nowMs = yield* Clock.currentTimeMillis
    const prices = priceBook.at(nowMs)
    const data: Array<MintPrice> = []
    for (const mint of mints) {
      const state = tokens.read(mint)
      const price = prices.of(mint)
      if (state === null || price === null) {
        yield* warm(mint)
      }
      const decimals = decimalsOf(mint, state)
      data.push({
        mint,
        priceUsd: priceScalar(prices, price, decimals, "usd", nowMs),
        priceSol: priceScalar(prices, price, decimals, "sol", nowMs),
        method: "pool_median",
        evidence: evidenceRow(price)
      })
    }
    const scalars = data.flatMap(({ priceSol, priceUsd }) => [priceUsd, priceSol])
    return { data, knowledge: knowledgeOf(scalars, null) }
  })

  return { factsOf, decimalsOf: readDecimals, holdersOf, holderHistoryOf, metadataOf, pricesOf }
})

const makePoolReads = Effect.fnUntraced(function* ({ notLoaded, pools, priceBook, refOf, tokenAt, tokens }: Books) {
  const activity = yield* ActivityReader
  const tokenRefOf = (mint: Mint, state: TokenState | null): TokenRef =>
    state?._tag === "Token" ? refOf(mint, state) : { ...bareToken(mint), decimals: decimalsOf(mint, state) }

  const liquidityOf = Effect.fn("TokenReader.liquidityOf")(function* (mint: Mint, limit: number) {
    const state = yield* tokenAt(mint)
    if (!pools.isLoaded(mint)) {
      return yield* notLoaded(mint)
    }
    const nowMs = yield* Clock.currentTimeMillis
    const prices = priceBook.at(nowMs)
    const poolsLeftOut = pools.leftOut(mint)
    const depth = depthOf(pools.poolsOf(mint), prices, pools.lacking(mint))
    const totalLiquidityUsd = usdScalar(prices, depth.micro, depth.lacking, nowMs)
    return {
      data: {
        token: refOf(mint, state),
        totalLiquidityUsd,
        pools: depth.pools.slice(0, limit).map((valued) =>
          poolRow(valued, mint, prices, {
            createdAtMs: activity.poolCreatedAtMs(mint, valued.pool.address),
            volume24hUsd: activity.poolVolume24hUsd(mint, valued.pool.address, nowMs)
          })
        ),
        poolsLeftOut
      },
      knowledge: knowledgeOf([totalLiquidityUsd], prices.lifetime?.observedAtMs ?? null)
    }
  })

  const poolOf = Effect.fn("TokenReader.poolOf")(function* (address: Address) {
    const pool = pools.poolAt(address)
    if (pool === null) {
      return yield* new UnknownPool({ pool: address })
    }
    const nowMs = yield* Clock.currentTimeMillis
    const prices = priceBook.at(nowMs)
    const { lacking, micro } = depthOf([pool], prices)
    const base = baseMintOf(pool)
    const row = poolRow({ pool, micro }, base, prices, {
      createdAtMs: activity.poolCreatedAtMs(base, address),
      volume24hUsd: activity.poolVolume24hUsd(base, address, nowMs)
    })
    return {
      data: {
        pool: row,
        baseToken: tokenRefOf(row.baseMint, tokens.read(row.baseMint)),
        quoteToken: tokenRefOf(row.quoteMint, tokens.read(row.quoteMint))
      },
      knowledge: knowledgeOf([usdScalar(prices, micro, lacking, nowMs)], prices.lifetime?.observedAtMs ?? null)
    }
  })

  return { liquidityOf, poolOf }
})

const make = Effect.gen(function* () {
  const books = yield* makeBooks
  return TokenReader.of({ ...(yield* makeTokenReads(books)), ...(yield* makePoolReads(books)) })
})

const evidenceRow = (price: UnitPrice | null): MintPrice["evidence"] => {
  const evidence = price?.evidence
  return evidence === undefined
    ? null
    : {
        depthUsd: evidence.depthMicro === null ? null : fromAtomic(evidence.depthMicro, 6),
        path: evidence.path.map(({ from, pool, to }) => ({ pool, fromMint: from, toMint: to }))
      }
}

/** Decimals of SOL and USDC, known without loading them. */
const MONEY_DECIMALS = new Map([
  [SOL, 9],
  [USDC, 6]
])

const decimalsOf = (mint: Mint, state: TokenState | null): number | null =>
  MONEY_DECIMALS.get(mint) ?? (state?._tag === "Token" ? (state.facts?.decimals ?? null) : null)

/** Supply; null for wrapped SOL, whose mint account does not count lamports. */
const supplyOf = (mint: Mint, { facts }: Token): bigint | null => (mint === SOL ? null : (facts?.supply ?? null))

/** Tokens with the names from their metadata and the image from their document, when the document is in memory. */
const makeTokenRefs =
  ({ knownOf }: DocumentReads) =>
  (mint: Mint, state: Token): TokenRef => ({
    ...bareToken(mint),
    symbol: state.metadata?.symbol ?? null,
    name: state.metadata?.name ?? null,
    decimals: decimalsOf(mint, state),
    imageUrl: typeof state.metadata?.uri === "string" ? (knownOf(state.metadata.uri)?.imageUrl ?? null) : null
  })
