/** The calls of the reads of single trades and pools, and the setup of their own answers. */
import { inSimulation, nowhere, type Offer, type Request, type Way } from "./walkRequests.ts"

/** A call of each that it answers well. */
export const readCalls: Readonly<Record<string, (offer: Offer) => Request>> = {
  "marketRealtime.session": () => ({}),
  "market.stats": ({ mint }) => ({ params: { chain: "solana", address: mint } }),
  "pools.facts": ({ pool }) => ({ params: { address: pool } }),
  "pools.trades": ({ pool }) => ({ params: { address: pool }, query: { limit: "5" } }),
  "trades.ofToken": ({ mint }) => ({ params: { chain: "solana", address: mint }, query: { limit: "5" } })
}

/** Answers that only some of them have. */
export const readAnswers: Readonly<Record<string, Readonly<Record<number, Way>>>> = {
  "market.stats": { 404: inSimulation({ params: { chain: "solana", address: nowhere } }) },
  "pools.facts": { 404: inSimulation({ params: { address: nowhere } }) },
  "pools.trades": { 404: inSimulation({ params: { address: nowhere } }) },
  "trades.ofToken": { 404: inSimulation({ params: { chain: "solana", address: nowhere } }) }
}
