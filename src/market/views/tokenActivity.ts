/** The activity of tokens, from the trades that were seen. */
import { Effect, Layer } from "effect"
import { USDC } from "../../domain/Address.ts"
import { unavailable } from "../../domain/Scalar.ts"
import { ActivityReader } from "../../tokens/ActivityReader.ts"
import { NOT_CAPTURED, volumeScalar } from "./measures.ts"
import { coverageOf, lifeNow } from "./tokenMeasures.ts"
import { TradeTape } from "../tape/TradeTape.ts"

const NONE = { volumeUsdNanos: 0n, trades: 0, unpriced: 0 }

/** The earlier of two times; the known one where the other is unknown. */
const earlier = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.min(a, b)

/** From observed swaps and launches. Holders are unknown: blocks show who trades, not who holds. */
export const layer: Layer.Layer<ActivityReader, never, TradeTape> = Layer.effect(
  ActivityReader,
  Effect.map(TradeTape, (tape) =>
    ActivityReader.of({
      poolCreatedAtMs: (mint, pool) => {
        const launch = tape.launches.of(mint)
        // A migration replaces the curve in the record with the pool that it created.
        return launch?.pool === pool ? (launch.graduatedAtMs ?? launch.createdAtMs) : null
      },
      activityOf: (mint, nowMs) => {
        const { trades, unpriced, volumeUsdNanos } = tape.state.window(mint, "24h") ?? NONE
        // A swap for USDC is one of what it is swapped with, so none is counted for USDC itself.
        const covered = mint === USDC ? NOT_CAPTURED : coverageOf(tape, mint, "24h", nowMs)
        const life = lifeNow(tape, nowMs)
        const createdAtMs = tape.launches.of(mint)?.createdAtMs ?? null
        const seen = tape.state.seen(mint)
        return {
          volume24hUsd: volumeScalar({ nanos: volumeUsdNanos, trades, unpriced }, covered, life, "observed_swaps_only"),
          holders: unavailable("count", "not_captured"),
          firstSeenAtMs: earlier(createdAtMs, seen === null ? null : seen.first * 1000),
          createdAtMs
        }
      }
    })
  )
)
