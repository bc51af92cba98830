/** The pools of one token, read once for every part of its page. */
import type { Answer } from "../data/contract.ts"
import { type Read, useRead } from "../data/useRead.ts"

export type PoolsAnswer = Answer<"GET /api/v1/tokens/:chain/:address/liquidity">
export type Pool = PoolsAnswer["data"]["pools"][number]

/** Milliseconds between two reads of the pools. */
export const POOLS_EVERY_MS = 30_000
const MOST_POOLS = 20

/** The deepest pools of a token. */
export const usePools = (mint: string): Read<PoolsAnswer> =>
  useRead(
    "GET /api/v1/tokens/:chain/:address/liquidity",
    { path: { chain: "solana", address: mint }, query: { limit: MOST_POOLS } },
    POOLS_EVERY_MS
  )
