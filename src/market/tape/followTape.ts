/** The half of a tape that every process has: it restores what is stored, and applies the blocks of the bus. */
import { Clock, Deferred, Effect, Stream } from "effect"
import { keepRunning } from "../../operations/keepRunning.ts"
import type { BusEntry } from "../../storage/bus/BlockBus.ts"
import type { MarketLimits } from "../memory/MarketState.ts"
import type { PricedBatch } from "../model/TradeBatch.ts"
import type { TradeProgress } from "../model/TradeProgress.ts"
import { fillTape } from "./rebuildTape.ts"
import type { BlockLine, TapeHalves, TapeParts } from "./tapeParts.ts"

interface FollowedChain {
  /** Its name on the bus. */
  readonly name: string
  /** Its progress in the store; null when nothing of it is stored. */
  readonly begun: TradeProgress | null
}

/**
 * Restores what is stored, and applies the blocks of the bus meanwhile, until it is interrupted. A block that cannot be
 * read or applied is logged and left out; the next block then has a gap before it.
 */
export const followChain = Effect.fnUntraced(function* <Body>(
  { stores, tape }: Pick<TapeParts, "stores" | "tape">,
  { bus, decode }: BlockLine<Body>,
  { begun, name }: FollowedChain,
  limits: MarketLimits,
  halves: TapeHalves,
  onApplied: (batch: PricedBatch, nowMs: number) => void = () => {}
) {
  const { applied, forks, restored } = halves
  yield* applied.moveTo(begun?.slot ?? 0)
  const restore = begun === null ? Effect.void : fillTape({ durable: () => halves.durable(), limits, stores, tape })
  yield* Effect.andThen(restore, Deferred.succeed(restored, undefined)).pipe(
    Effect.forkScoped({ startImmediately: true })
  )

  const state = { isBroken: false }
  const take = Effect.fnUntraced(function* ({ body, isAfterGap }: BusEntry<Body>) {
    const batch = decode(body)
    forks.note(batch)
    const next = isAfterGap || state.isBroken ? { ...batch, afterGap: true } : batch
    yield* tape.apply(next)
    state.isBroken = false
    onApplied(next, yield* Clock.currentTimeMillis)
  })
  const takeOrLeaveOut = (entry: BusEntry<Body>) =>
    Effect.catchCause(take(entry), (cause) => {
      state.isBroken = true
      return Effect.logError("A block could not be applied and is left out", { slot: entry.slot }, cause)
    })
  return yield* Effect.suspend(() =>
    Stream.runForEach(bus.follow(name, applied.slot), (entry) =>
      Effect.andThen(takeOrLeaveOut(entry), applied.moveTo(entry.slot))
    )
  ).pipe(keepRunning("Following blocks", "blocks"), Effect.andThen(Effect.never))
})
