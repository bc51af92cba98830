/** Attributes trades to callouts as they happen. */
import { Clock, Config, Effect, Layer, Stream } from "effect"
import { countSetting, rangeSetting } from "../domain/countSetting.ts"
import type { Address } from "../domain/Address.ts"
import { ownTurn } from "../domain/loopTime.ts"
import type { AttributedTrade } from "../api/schemas/Callout.ts"
import { NANOS_PER_USD } from "../domain/units.ts"
import { keepGoing, keepRunning, keepTrying } from "../operations/keepRunning.ts"
import { SourceMonitor, stateByAge } from "../operations/SourceMonitor.ts"
import type { CountedBatch } from "../market/model/TradeBatch.ts"
import { Market } from "../market/tape/Market.ts"
import { attributionOf, type CalloutLink, type Terms } from "./attribution.ts"
import { CalloutStore } from "./CalloutStore.ts"

/** The links of a wallet, read synchronously with every trade: an embedding application may change them at any time. */
export type LinksOf = (wallet: Address) => ReadonlyArray<CalloutLink>

/** Links that do not change, by wallet. */
export const linksOf = (links: ReadonlyArray<CalloutLink>): LinksOf => {
  const byWallet = Map.groupBy(links, ({ wallet }) => wallet)
  return (wallet) => byWallet.get(wallet) ?? []
}

/** `CALLOUT_CREATOR_BPS` (10) and `CALLOUT_USD_PER_POINT` (10). */
export const terms: Config.Config<Terms> = Config.all({
  creatorBps: rangeSetting("CALLOUT_CREATOR_BPS", 10, { minimum: 0, maximum: 10_000 }),
  usdPerPoint: countSetting("CALLOUT_USD_PER_POINT", 10)
}).pipe(
  Config.map(({ creatorBps, usdPerPoint }) => ({
    creatorBps: Math.max(0, creatorBps),
    nanosPerPoint: BigInt(Math.max(1, usdPerPoint)) * NANOS_PER_USD
  }))
)

/** Attribution is stale after this long without a block. */
const SILENT_MS = 30_000

interface Progress {
  /** The time of the last block that was attributed; null before the first. */
  atMs: number | null
  /** True while a trade waits for the store. */
  isWaiting: boolean
  /** Blocks that were not attributed. */
  lost: number
}

/**
 * Attributes each trade that is applied to the tape, at most once. The store knows the trades that it has counted, so a
 * block that is applied again, after a restart or by another process, adds nothing. While the store is unavailable the
 * write is retried every second, and later trades wait.
 *
 * Extension point of an embedding application: no endpoint makes links, so the application passes the links that it
 * knows.
 *
 * Settings: `CALLOUT_CREATOR_BPS` (10) is the creator's share of the volume in hundredths of a percent, and
 * `CALLOUT_USD_PER_POINT` (10) the dollars of volume that earn a point.
 */
export const attributeTrades = (links: LinksOf): Layer.Layer<never, Config.ConfigError, CalloutStore | Market> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const store = yield* CalloutStore
      const { appliedCounted } = yield* Market
      const monitor = yield* SourceMonitor
      const agreed = yield* terms
      const progress: Progress = { atMs: null, isWaiting: false, lost: 0 }

      const waits = (isWaiting: boolean) => Effect.sync(() => void (progress.isWaiting = isWaiting))
      const attribute = (attributed: AttributedTrade) =>
        store.attribute(attributed).pipe(
          // A trade that breaks the store must not hold up the later ones.
          Effect.catchDefect((defect) => Effect.logError("A trade cannot be attributed and is skipped", defect)),
          Effect.tapError(() => waits(true)),
          Effect.mapError(({ cause }) => cause),
          keepTrying("Attributing a trade to its callout", { source: "callouts" }),
          Effect.andThen(waits(false))
        )
      const take = Effect.fnUntraced(function* ({ batch, isAnew, missed }: CountedBatch) {
        if (isAnew) {
          // Blocks of a chain that has ended no longer count.
          progress.lost = 0
        } else if (missed > 0) {
          progress.lost += missed
          yield* Effect.logError("Attribution fell behind: trades of blocks were not attributed", {
            blocks: missed,
            inAll: progress.lost,
            before: batch.slot
          })
        }
        yield* ownTurn
        const attributions = batch.trades.flatMap((trade) => attributionOf(trade, links(trade.wallet), agreed) ?? [])
        yield* Effect.forEach(attributions, attribute, { discard: true })
        progress.atMs = yield* Clock.currentTimeMillis
      })

      yield* appliedCounted.pipe(
        Stream.runForEach((counted) => keepGoing("Attributing a block")(take(counted))),
        keepRunning("Attributing trades to callouts", "callouts"),
        Effect.forkScoped({ startImmediately: true })
      )
      yield* monitor.report("callouts", (nowMs) => {
        const state = stateByAge(progress.atMs, SILENT_MS, nowMs)
        const lacking = progress.isWaiting ? "stale" : progress.lost > 0 ? "partial" : null
        return state.status === "known" && lacking !== null ? { ...state, status: lacking } : state
      })
    })
  )
