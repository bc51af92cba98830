/** The activity of tokens, from the trades that were seen. */
import { Effect, Layer } from "effect"
import { type Address, type Mint, USDC } from "../../domain/Address.ts"
import { incomplete } from "../../domain/Scalar.ts"
import { ActivityReader } from "../../tokens/ActivityReader.ts"
import { HolderReader } from "../../tokens/HolderReader.ts"
import { NOT_CAPTURED, volumeScalar } from "./measures.ts"
import { coverageOf, lifeNow, windowStart } from "./tokenMeasures.ts"
import { Market } from "../tape/Market.ts"

const NONE = { volumeUsdNanos: 0n, trades: 0, unpriced: 0 }

/** When the curve was created, or the pool that a migration made; null when it was not seen. */
const poolCreatedAtMs = (
  { launches }: Pick<Market["Service"], "launches">,
  mint: Mint,
  pool: Address
): number | null => {
  const launch = launches.of(mint)
  if (launch?.curve === pool) {
    return launch.createdAtMs
  }
  return launch?.pool === pool ? launch.graduatedAtMs : null
}

/** The earlier of two times. When one is unknown, the other. */
const earlier = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.min(a, b)

/** Answers from observed swaps and launches, and from the holders of followed tokens. */
export const layer: Layer.Layer<ActivityReader, never, Market> = Layer.effect(
  ActivityReader,
  Effect.gen(function* () {
    const tape = yield* Market
    const { countOf } = yield* HolderReader
    return ActivityReader.of({
      poolCreatedAtMs: (mint, pool) => poolCreatedAtMs(tape, mint, pool),
      poolVolume24hUsd: (mint, pool, nowMs) => {
        const { trades, unpriced, volumeUsdNanos } = tape.state.pools.read(pool, tape.state.now)
        const from = windowStart(tape, "24h")
        const createdAtMs = poolCreatedAtMs(tape, mint, pool)
        // Blocks before the token's creation contain no swap of it.
        const begin = createdAtMs === null ? from : Math.max(from, Math.floor(createdAtMs / 1000) + 1)
        const whole = tape.coverageFrom(from, nowMs)
        const read = whole.complete ? whole : tape.coverageFrom(begin, nowMs)
        const covered = begin < tape.state.pools.heldFrom ? incomplete("limit_clipped") : read
        const sum = { nanos: volumeUsdNanos, trades, unpriced }
        return volumeScalar(sum, covered, lifeNow(tape, nowMs))
      },
      activityOf: (mint, nowMs) => {
        const { trades, unpriced, volumeUsdNanos } = tape.state.window(mint, "24h") ?? NONE
        // A swap for USDC is counted for the other token, so none is counted for USDC itself.
        const covered = mint === USDC ? NOT_CAPTURED : coverageOf(tape, mint, "24h", nowMs)
        const life = lifeNow(tape, nowMs)
        const createdAtMs = tape.launches.of(mint)?.createdAtMs ?? null
        // Stored trades that are not in memory yet may be older.
        const seen = tape.isRestoring() ? null : tape.state.seen(mint)
        return {
          volume24hUsd: volumeScalar({ nanos: volumeUsdNanos, trades, unpriced }, covered, life),
          holders: countOf(mint, nowMs),
          firstSeenAtMs: earlier(createdAtMs, seen === null ? null : seen.first * 1000),
          createdAtMs
        }
      }
    })
  })
)
