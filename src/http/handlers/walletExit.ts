/** The exit check of a whole wallet. */
import { Clock, Effect, Result } from "effect"
import { WalletBatch } from "../../access/WalletBatch.ts"
import { CurrentKey } from "../../api/middleware/Authorization.ts"
import { Meter } from "../../api/middleware/Metering.ts"
import { StateTooOld } from "../../api/problems.ts"
import { defaults, type WalletExitBody } from "../../api/Spot.ts"
import { SOL } from "../../domain/Address.ts"
import type { Position } from "../../domain/quotes/ExitCheck.ts"
import type { QuoteRefusal } from "../../domain/quotes/Quote.ts"
import { WalletExitCheck } from "../../domain/quotes/WalletExit.ts"
import { describeRefusal } from "../../quotes/describeRefusal.ts"
import { exitCheck } from "../../quotes/exitCheck.ts"
import { QuoteEngine } from "../../quotes/QuoteEngine.ts"
import {
  countsOf,
  type ExitOutcome,
  type PlannedExit,
  plannedExits,
  rungsIn,
  totalOf,
  type WalletExitTerms,
  walletExitPosition
} from "../../quotes/walletExit.ts"
import { TokenReader } from "../../tokens/TokenReader.ts"
import { WalletReader } from "../../wallets/WalletReader.ts"
import { invalid, storeUnavailable } from "../problems.ts"
import { quoteDecimalsOf } from "./spotRequests.ts"
import { enterBatch } from "./walletBatch.ts"

/** Time for the ladders. Positions that are not begun within it are `not_reached`. */
const PRICING_LIMIT_MS = 1500
/** More positions than the trades that are read of one wallet can make. */
const ALL_POSITIONS = 10_000

const unavailable = storeUnavailable("Wallets cannot be read", "Wallets are unavailable: try again.")

const stateOf = {
  StateCold: "loading",
  TooManyColdMints: "deferred",
  PoolsNotSearched: "not_searched",
  RouteNotSupported: "not_supported"
} as const

/** The time after which the mint of a refusal is probably loaded; null while that is not known. */
const retryInMs = (refusal: QuoteRefusal): number | null => {
  if (refusal._tag === "TooManyColdMints") {
    return refusal.fitsInMs
  }
  return refusal._tag === "StateCold" ? (refusal.readyInMs ?? null) : null
}

/** The outcome of a position that a rung was refused for. A state that is too old fails the whole check. */
const refusedExit = (refusal: Exclude<QuoteRefusal, { readonly _tag: "NoRoute" }>) => {
  const detail = describeRefusal(refusal).message
  return refusal._tag === "StateStale"
    ? Effect.fail(new StateTooOld({ error: { message: detail } }))
    : Effect.succeed<ExitOutcome>({
        state: stateOf[refusal._tag],
        exit: null,
        detail,
        retryInMs: retryInMs(refusal)
      })
}

const notReached: ExitOutcome = {
  state: "not_reached",
  exit: null,
  detail: "The time of the request was over before this position.",
  retryInMs: null
}

const termsOf = (body: typeof WalletExitBody.Type, quoteDecimals: number | null): WalletExitTerms => ({
  quoteMint: body.quoteMint ?? SOL,
  quoteDecimals,
  slippageBps: body.slippageBps ?? defaults.exitSlippageBps,
  ladder: body.ladder ?? defaults.ladder,
  maxImpactPct: body.maxImpactPct ?? defaults.maxImpactPct,
  limit: body.limit ?? defaults.exitPositions
})

/** Charges a unit for each rung; a check that no window of the budget can hold is refused at the field. */
const chargeRungs = Effect.fnUntraced(function* (planned: ReadonlyArray<PlannedExit>) {
  const meter = yield* Meter
  const units = rungsIn(planned)
  const most = meter.charge?.limit ?? units
  if (units > most) {
    const message = `limit must leave at most ${most} rungs to price, the units of the quote budget: ${units} are left.`
    return yield* invalid({ in: "body", field: "limit", issue: "out_of_range" }, message)
  }
  yield* meter.raiseTo(units)
  return meter
})

/** Prices the ladders one position at a time, so that other requests are served in between. */
const makePricing = Effect.gen(function* () {
  const engine = yield* QuoteEngine
  const tokens = yield* TokenReader

  const outcomeOf = Effect.fnUntraced(function* (position: Position) {
    const { ladder, mint, quoteDecimals, quoteMint, slippageBps } = position
    const outputDecimals = quoteDecimals ?? undefined
    const rungs = yield* engine.quoteAll(
      ladder.map(({ amount }) => ({ inputMint: mint, outputMint: quoteMint, amount, slippageBps, outputDecimals }))
    )
    const quotes = rungs.map((rung) => (Result.isSuccess(rung) ? rung.success : null))
    for (const rung of rungs) {
      if (Result.isFailure(rung) && rung.failure._tag !== "NoRoute") {
        return yield* refusedExit(rung.failure)
      }
    }
    const decimals = position.decimals ?? (yield* tokens.decimalsOf(mint))
    const outcome: ExitOutcome = {
      state: "checked",
      exit: exitCheck({ ...position, decimals }, quotes),
      detail: null,
      retryInMs: null
    }
    return outcome
  })

  return Effect.fnUntraced(function* (planned: ReadonlyArray<PlannedExit>) {
    const endsMs = (yield* Clock.currentTimeMillis) + PRICING_LIMIT_MS
    return yield* Effect.forEach(
      planned,
      Effect.fnUntraced(function* ({ position }) {
        if (position === null) {
          return null
        }
        yield* Effect.yieldNow
        return (yield* Clock.currentTimeMillis) < endsMs ? yield* outcomeOf(position) : notReached
      })
    )
  })
})

/** The check of `{"wallet": …}`. Every open position is in the answer or counted in it. */
export const makeWalletExit = Effect.gen(function* () {
  const tokens = yield* TokenReader
  const reader = yield* WalletReader
  const batch = yield* WalletBatch
  const price = yield* makePricing

  return Effect.fnUntraced(function* (body: typeof WalletExitBody.Type) {
    const { id } = yield* CurrentKey
    yield* enterBatch(batch, id)
    const stated = quoteDecimalsOf(body)
    const terms = termsOf(body, stated ?? (yield* tokens.decimalsOf(body.quoteMint ?? SOL)))
    const held = yield* Effect.catch(reader.positionsOf(body.wallet, ALL_POSITIONS), unavailable)
    const { open, planned } = plannedExits(held.positions, terms)
    const meter = yield* chargeRungs(planned)
    const outcomes = yield* price(planned)
    const priced = planned.filter((_, i) => outcomes[i]?.state === "checked")
    yield* meter.lowerTo(Math.max(1, rungsIn(priced)))
    const positions = planned.map((plan, i) => walletExitPosition(plan, outcomes[i] ?? null, terms.maxImpactPct))
    return WalletExitCheck.make({
      wallet: body.wallet,
      status: held.status,
      reason: held.summary?.historyCoverage.solana.reason ?? null,
      quoteMint: terms.quoteMint,
      quoteDecimals: terms.quoteDecimals,
      slippageBps: terms.slippageBps,
      ladder: terms.ladder,
      counts: countsOf(positions, open),
      total: totalOf(positions, terms, { open, isKnown: held.status === "partial" }),
      positions
    })
  }, Effect.scoped)
})
