/** The calls of the reads of usage, single trades and pools, and the setup of their own answers. */
import { inSimulation, nowhere, onTape, type Offer, type Request, type Way } from "./walkRequests.ts"

const WSOL = "So11111111111111111111111111111111111111112"

/** A swap whose id tells the service of the walk what to answer. */
const fill = (id: string) => ({
  body: { id, wallet: nowhere, inputMint: WSOL, outputMint: nowhere, amount: "1000000", pools: [nowhere], minOut: "1" }
})

/** A call of each that it answers well. */
export const readCalls: Readonly<Record<string, (offer: Offer) => Request>> = {
  "account.usage": () => ({ query: { from: "2026-01-01" } }),
  "marketRealtime.session": () => ({}),
  "marketStreams.trades": ({ mint }) => ({ query: { mint, durationSeconds: "1" } }),
  "marketStreams.liquidity": ({ mint }) => ({ query: { mint, durationSeconds: "1" } }),
  "marketStreams.candles": ({ mint }) => ({ query: { mint, resolution: "1m", durationSeconds: "1" } }),
  "exports.day": () => ({ params: { dataset: "trades", file: "2026-03-02.ndjson" } }),
  "replayFills.post": () => fill("first"),
  "replayFills.list": () => ({ query: { status: "filled" } }),
  "market.stats": ({ mint }) => ({ params: { chain: "solana", address: mint } }),
  "pools.list": () => ({ query: { sort: "volume", limit: "3" } }),
  "pools.facts": ({ pool }) => ({ params: { address: pool } }),
  "pools.trades": ({ pool }) => ({ params: { address: pool }, query: { limit: "5" } }),
  "pools.liquidityEvents": ({ pool }) => ({ params: { address: pool }, query: { limit: "5" } }),
  "priceHistory.at": ({ mint }) => ({
    params: { chain: "solana", address: mint },
    query: { at: String(Math.floor(Date.now() / 1000) - 60) }
  }),
  "priceHistory.atMany": ({ mint }) => ({ body: { points: [{ mint, at: 1_700_000_000 }] } }),
  "tokenBatch.list": ({ mint }) => ({ query: { addresses: `${mint},${nowhere}` } }),
  "tokenBatch.read": ({ mint }) => ({ body: { addresses: [mint, nowhere] } }),
  "screen.tokens": () => ({
    body: {
      ranges: [{ statistic: "trades.5m", min: "2", unknown: "include" }],
      sort: { statistic: "volumeUsd.5m", direction: "desc" },
      show: ["liquidityUsd", "holders"],
      limit: 2
    }
  }),
  "launches.list": () => ({ query: { limit: "5" } }),
  "wallets.related": ({ trader }) => ({ params: { wallet: trader }, query: { limit: "5" } }),
  "topTraders.leaders": () => ({ query: { sort: "volume", limit: "3" } }),
  "launches.ofWallet": ({ trader }) => ({ params: { wallet: trader }, query: { limit: "5" } }),
  "launches.one": ({ launched }) => ({ params: { mint: launched } }),
  "launches.firstBuyers": ({ launched }) => ({
    params: { chain: "solana", address: launched },
    query: { limit: "2" }
  }),
  "launches.firstBuyersOfMany": ({ launched }) => ({ query: { addresses: `${launched},${nowhere}` } }),
  "search.tokens": () => ({ query: { q: "usdc", limit: "5" } }),
  "tokens.holders": ({ mint }) => ({ params: { chain: "solana", address: mint }, query: { limit: "5" } }),
  "tokens.holderHistory": ({ mint }) => ({ params: { chain: "solana", address: mint }, query: { limit: "24" } }),
  "tokens.metadata": ({ mint }) => ({ params: { chain: "solana", address: mint } }),
  "trades.ofToken": ({ mint }) => ({ params: { chain: "solana", address: mint }, query: { limit: "5" } }),
  "trades.liquidityEvents": ({ mint }) => ({ params: { chain: "solana", address: mint }, query: { limit: "5" } })
}

const ofDay = (day: string, headers: Readonly<Record<string, string>> = {}): Way => ({
  world: "bare",
  key: "x",
  request: { params: { dataset: "trades", file: `${day}.ndjson` }, headers }
})

/** Asked of a service that plays a recording. */
const ofReplay = (request: Request): Way => ({ world: "bare", request })

/** Answers that only some of them have. */
export const readAnswers: Readonly<Record<string, Readonly<Record<number, Way>>>> = {
  "marketStreams.liquidity": { 404: inSimulation({ query: { mint: nowhere } }) },
  "marketStreams.candles": { 404: inSimulation({ query: { mint: nowhere, resolution: "1m" } }) },
  "exports.day": {
    200: ofDay("2026-03-02"),
    404: ofDay("2026-03-04"),
    409: ofDay("2026-03-03"),
    416: ofDay("2026-03-02", { range: "bytes=100000-" })
  },
  "replayFills.post": {
    200: ofReplay(fill("first")),
    404: ofReplay(fill("pool_not_recorded")),
    409: inSimulation(fill("first")),
    422: ofReplay(fill("reused")),
    501: ofReplay(fill("venue_without_state"))
  },
  "replayFills.list": { 200: ofReplay({}), 409: inSimulation({}) },
  "market.stats": { 404: inSimulation({ params: { chain: "solana", address: nowhere } }) },
  "pools.facts": { 404: inSimulation({ params: { address: nowhere } }) },
  "pools.trades": { 404: inSimulation({ params: { address: nowhere } }) },
  "pools.liquidityEvents": { 404: inSimulation({ params: { address: nowhere } }) },
  "priceHistory.at": { 404: inSimulation({ params: { chain: "solana", address: nowhere }, query: { at: "1" } }) },
  "launches.one": { 404: inSimulation({ params: { mint: nowhere } }) },
  "pools.list": { 409: onTape({ query: { limit: "1" } }, 63) },
  "topTraders.leaders": { 409: onTape({ query: { sort: "trades", limit: "1" } }, 63) },
  "screen.tokens": { 409: onTape({ body: { limit: 1 } }, 63) },
  "search.tokens": { 409: onTape({ query: { q: "xmpl", limit: "1" } }, 63) },
  "tokens.holders": { 404: inSimulation({ params: { chain: "solana", address: nowhere } }) },
  "tokens.holderHistory": { 404: inSimulation({ params: { chain: "solana", address: nowhere } }) },
  "tokens.metadata": { 404: inSimulation({ params: { chain: "solana", address: nowhere } }) },
  "trades.ofToken": { 404: inSimulation({ params: { chain: "solana", address: nowhere } }) },
  "trades.liquidityEvents": { 404: inSimulation({ params: { chain: "solana", address: nowhere } }) }
}
