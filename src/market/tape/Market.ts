import { Cause, Config, ConfigProvider, Context, Effect, Layer, type Scope } from "effect"
import { keepRunning } from "../../operations/keepRunning.ts"
import { SourceMonitor } from "../../operations/SourceMonitor.ts"
import { PriceBook } from "../../tokens/PriceBook.ts"
import type { MarketLimits } from "../memory/MarketState.ts"
import { type MarketStorePorts, marketStores } from "../model/MarketStores.ts"
import { driveTape } from "./driveTape.ts"
import { reportDecoding } from "./decodingState.ts"
import { blocksState } from "./freshness.ts"
import { leastCoverage, limits, makeMarket, restorePatience } from "./makeMarket.ts"
import type { MarketReads } from "./MarketReads.ts"
import { recordSettings } from "./recordTrades.ts"
import { importSettings } from "../../chain/importing/importSettings.ts"
import { repairSettings } from "./RepairWorker.ts"
import { snapshotSettings } from "./takeSnapshots.ts"
import { Tape } from "./Tape.ts"
import type { TapeParts, TapeSettings } from "./tapeParts.ts"
import { TradeFeed } from "./TradeFeed.ts"

/** The market in memory, for readers. `Tape` has the writes. */
export class Market extends Context.Service<Market, MarketReads>()("fathom/market/tape/Market") {
  /** A market that the callers of `Tape` write. */
  static readonly layerManual = (bounds?: MarketLimits): Layer.Layer<Market | Tape> =>
    Layer.effectContext(
      Effect.map(
        Effect.suspend(() => makeMarket(bounds)),
        ({ market, tape }) => Context.make(Market, market).pipe(Context.add(Tape, tape))
      )
    )

  /**
   * A market that follows the feed from the last stored block on, stores its blocks, and reads the stored ones into
   * memory meanwhile. Bounds: `TAPE_TOKENS` (60,000), `TAPE_BARS` (800,000 of each stored width), `TAPE_WALLETS`
   * (1,000,000), and `TAPE_TRADES` (4,000,000) for a restore.
   */
  static readonly layer: Layer.Layer<Market, Config.ConfigError, TradeFeed | MarketStorePorts | PriceBook> =
    Layer.suspend(() => Market.layerDriven(driveTape))

  /** A market within the same bounds, whose tape is written by `drive`. */
  static readonly layerDriven = <R>(
    drive: (parts: TapeParts, bounds: MarketLimits, settings: TapeSettings) => Effect.Effect<void, unknown, R>
  ): Layer.Layer<Market, Config.ConfigError, TradeFeed | MarketStorePorts | PriceBook | Exclude<R, Scope.Scope>> =>
    Layer.effect(
      Market,
      Effect.gen(function* () {
        const bounds = yield* limits
        const { market, tape } = yield* makeMarket(bounds, yield* leastCoverage, yield* restorePatience)
        const parts = { feed: yield* TradeFeed, stores: yield* marketStores, prices: yield* PriceBook, tape }
        yield* (yield* SourceMonitor).report("blocks", (nowMs) => blocksState(market, nowMs))
        yield* reportDecoding(market.decoding)
        const settings = {
          record: yield* recordSettings,
          repair: yield* repairSettings,
          snapshots: yield* snapshotSettings,
          imports: yield* Effect.catchTag(importSettings, "ImportRefused", ({ detail }) =>
            Effect.fail(new Config.ConfigError(new ConfigProvider.SourceError({ message: detail })))
          )
        }
        // What was applied and not stored is read again: the market begins from the store, as after a restart.
        yield* Effect.suspend(() => Effect.scoped(drive(parts, bounds, settings))).pipe(
          Effect.onError((cause) => (Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.sync(tape.startAnew))),
          keepRunning("The tape", "blocks"),
          Effect.forkScoped({ startImmediately: true })
        )
        return market
      })
    )
}
