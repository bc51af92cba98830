/** Attributes trades to callouts as they happen. */
import { Config, Effect, Layer, Schedule, Stream } from "effect"
import type { Address } from "../domain/Address.ts"
import { NANOS_PER_USD } from "../domain/units.ts"
import { TradeTape } from "../market/tape/TradeTape.ts"
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
  creatorBps: Config.Int("CALLOUT_CREATOR_BPS").pipe(Config.withDefault(10)),
  usdPerPoint: Config.Int("CALLOUT_USD_PER_POINT").pipe(Config.withDefault(10))
}).pipe(
  Config.map(({ creatorBps, usdPerPoint }) => ({
    creatorBps: Math.max(0, creatorBps),
    nanosPerPoint: BigInt(Math.max(1, usdPerPoint)) * NANOS_PER_USD
  }))
)

const again = Schedule.spaced("1 second")

/**
 * Attributes each trade that is applied to the tape, at most once: the store knows the trades that it has counted, so a
 * block that is applied again, after a restart or by another process, adds nothing. While the store is unavailable the
 * write is retried every second, and later trades wait.
 *
 * Extension point of an embedding application: no endpoint makes links, so it passes those that it knows.
 *
 * Settings: `CALLOUT_CREATOR_BPS` (10) is the creator's share of the volume in hundredths of a percent, and
 * `CALLOUT_USD_PER_POINT` (10) the dollars of volume that earn a point.
 */
export const attributeTrades = (links: LinksOf): Layer.Layer<never, Config.ConfigError, CalloutStore | TradeTape> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const store = yield* CalloutStore
      const { applied } = yield* TradeTape
      const agreed = yield* terms

      yield* applied.pipe(
        Stream.flatMap(({ trades }) =>
          Stream.fromIterable(trades.flatMap((trade) => attributionOf(trade, links(trade.wallet), agreed) ?? []))
        ),
        Stream.runForEach((attributed) => Effect.retry(store.attribute(attributed), again)),
        Effect.tapDefect((defect) => Effect.logError("Trades are no longer attributed to callouts", defect)),
        Effect.forkScoped({ startImmediately: true })
      )
    })
  )
