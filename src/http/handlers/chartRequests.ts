/** Requests of the chart endpoint as requests of the reader. Errors name the field. */
import { Clock, Effect, Schema } from "effect"
import { type ChartQuery, defaults } from "../../api/Market.ts"
import { InvalidDenomination, type InvalidRequest, UnsupportedChain } from "../../api/problems.ts"
import { Address, isAddress, type Mint } from "../../domain/Address.ts"
import { type ChartRequest, EvmChain } from "../../domain/market/Chart.ts"
import type { EvmInterval } from "../../market/candles/EvmCandles.ts"
import { type EvmToken, intervalOf } from "../../market/candles/evmChart.ts"
import { invalid } from "../problems.ts"

/** The token whose chart is requested. */
export type ChartSubject =
  | { readonly _tag: "Solana"; readonly mint: Mint }
  | { readonly _tag: "Evm"; readonly token: EvmToken; readonly interval: EvmInterval }

/** A chart request for one token. */
export interface SubjectRequest {
  readonly subject: ChartSubject
  readonly request: ChartRequest
}

type Query = typeof ChartQuery.Type
type ChartProblem = InvalidDenomination | InvalidRequest | UnsupportedChain

const isEvmChain = Schema.is(EvmChain)
const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/u

/** The 400 of a chain that is not served. */
export const unsupportedChain = (message: string) =>
  new UnsupportedChain({ error: { message, details: [{ in: "query", field: "chain", issue: "unknown" }] } })

const badToken = (expected: string) =>
  invalid({ in: "path", field: "token", issue: "format" }, `token must be ${expected}.`)

const solana = (token: string): Effect.Effect<ChartSubject, ChartProblem> =>
  isAddress(token)
    ? Effect.succeed({ _tag: "Solana", mint: Address.make(token) })
    : Effect.fail(badToken("a Solana address: base58 of 32 bytes"))

const evm = (chain: EvmChain, token: string, { denom, outliers, pool, resolution }: ChartRequest) => {
  if (pool !== undefined) {
    return Effect.fail(invalid({ in: "query", field: "pool", issue: "conflict" }, "pool is for Solana only."))
  }
  if (outliers === "exclude") {
    return Effect.fail(invalid({ in: "query", field: "outliers", issue: "conflict" }, "outliers must be include."))
  }
  if (denom === "sol") {
    return Effect.fail(
      new InvalidDenomination({
        error: {
          message: `denom must be usd on ${chain}.`,
          details: [{ in: "query", field: "denom", issue: "conflict" }]
        }
      })
    )
  }
  if (!EVM_ADDRESS.test(token)) {
    return Effect.fail(badToken("0x and 40 hex digits"))
  }
  const interval = intervalOf(resolution)
  if (interval === null) {
    const issue = { in: "query", field: "resolution", issue: "out_of_range" } as const
    return Effect.fail(invalid(issue, "resolution must be 1m or wider on an EVM chain."))
  }
  return Effect.succeed({ _tag: "Evm", token: { chain, address: token.toLowerCase() }, interval } as const)
}

/** The chart request of a path and a query. */
export const chartRequest = Effect.fnUntraced(function* (
  token: string,
  query: Query
): Effect.fn.Return<SubjectRequest, ChartProblem> {
  const { chain = defaults.chain, from = null, to = null } = query
  const request: ChartRequest = {
    resolution: query.resolution ?? defaults.resolution,
    denom: query.denom ?? defaults.denom,
    mode: query.mode ?? defaults.mode,
    outliers: query.outliers ?? defaults.outliers,
    ...(query.pool === undefined ? {} : { pool: query.pool }),
    from,
    to,
    limit: query.limit ?? defaults.bars
  }
  if (chain !== "solana" && !isEvmChain(chain)) {
    return yield* unsupportedChain(`chain must be solana or one of ${EvmChain.literals.join(", ")}.`)
  }
  const subject: ChartSubject = yield* chain === "solana" ? solana(token) : evm(chain, token, request)
  const nowMs = yield* Clock.currentTimeMillis
  if (from !== null && to === null && from * 1000 >= nowMs) {
    return yield* invalid({ in: "query", field: "from", issue: "conflict" }, "from must be before now.")
  }
  return { subject, request }
})
