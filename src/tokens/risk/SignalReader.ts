import { Cache, Clock, Context, Duration, Effect, Layer } from "effect"
import { type Mint, SOL } from "../../domain/Address.ts"
import type { RiskSignal } from "../../api/schemas/TokenSignals.ts"
import type { CoverageReason } from "../../domain/Scalar.ts"
import { PoolBook } from "../../quotes/pools/PoolBook.ts"
import { HolderReader } from "../HolderReader.ts"
import { depthOf } from "../liquidity.ts"
import { PriceBook } from "../PriceBook.ts"
import { AUTHORITY_FRESH_MS } from "../authorities.ts"
import { TokenBook } from "../TokenBook.ts"
import { LaunchReader, NO_LAUNCH } from "./LaunchReader.ts"
import { type LpHoldings, signalsOf } from "./signals.ts"

/** Time for which a launch is shared between requests. */
const SHARED_FOR = Duration.seconds(30)
const MOST_SHARED = 10_000

/** Measured signals of tokens; every one is unknown unless provided. */
export const SignalReader = Context.Reference<{
  /** Every signal as of now. Accounts that are missing are queued to be read and not awaited. */
  readonly signalsOf: (mint: Mint) => Effect.Effect<ReadonlyArray<RiskSignal>>
}>("fathom/tokens/risk/SignalReader", {
  defaultValue: () => ({
    signalsOf: () =>
      Effect.map(Clock.currentTimeMillis, (nowMs) =>
        signalsOf({ holdings: "not_captured", launch: NO_LAUNCH, lp: "not_captured" }, nowMs)
      )
  })
})

const make = Effect.gen(function* () {
  const tokens = yield* TokenBook
  const pools = yield* PoolBook
  const prices = yield* PriceBook
  const holders = yield* HolderReader
  const { launchOf } = yield* LaunchReader
  const launches = yield* Cache.make({ lookup: launchOf, capacity: MOST_SHARED, timeToLive: SHARED_FOR })

  /** The LP tokens of the largest pool, or the reason why they are not known. */
  const lpOf = Effect.fnUntraced(function* (mint: Mint, nowMs: number): Effect.fn.Return<LpHoldings | CoverageReason> {
    if (!pools.isLoaded(mint)) {
      yield* pools.warm(mint)
      return "backfill_running"
    }
    const depth = depthOf(pools.poolsOf(mint), prices.at(nowMs), pools.lacking(mint))
    const [largest] = depth.pools
    if (largest === undefined || largest.micro === null || largest.pool.lp === undefined) {
      return "not_captured"
    }
    const { issued, mint: lpMint } = largest.pool.lp
    const state = tokens.read(lpMint)
    yield* tokens.warm(lpMint)
    if (state?._tag !== "Token" || state.facts === null || state.observation.observedAtMs === null) {
      return state === null ? "backfill_running" : "not_captured"
    }
    const { observedAtMs, slot } = state.observation
    return {
      pool: largest.pool.address,
      mint: lpMint,
      issued,
      supply: state.facts.supply,
      slot,
      life: { observedAtMs, expiresAtMs: observedAtMs + AUTHORITY_FRESH_MS },
      // Pools that were left out have lower reserves; one without a value may be larger.
      lacking: depth.lacking === "limit_clipped" ? null : depth.lacking
    }
  })

  const holdingsOf = (mint: Mint, nowMs: number) => {
    const state = tokens.read(mint)
    const lacking =
      state?._tag === "Token" && state.facts !== null
        ? holders.suggest(mint, state.facts.tokenProgram, nowMs)
        : "not_captured"
    return holders.knownOf(mint, nowMs) ?? lacking ?? "not_captured"
  }

  return {
    signalsOf: Effect.fn("SignalReader.signalsOf")(function* (mint: Mint) {
      const nowMs = yield* Clock.currentTimeMillis
      const launch = yield* Cache.get(launches, mint)
      const lp = mint === SOL ? "not_captured" : yield* lpOf(mint, nowMs)
      return signalsOf({ holdings: holdingsOf(mint, nowMs), launch, lp }, nowMs)
    })
  }
})

/** Reads pools and mint accounts in memory, followed holders, and launches that were seen. */
export const layer: Layer.Layer<never, never, PoolBook | PriceBook | TokenBook> = Layer.effect(SignalReader, make)
