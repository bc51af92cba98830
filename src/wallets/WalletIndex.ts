import { type Config, Context, Effect, Layer, Schema, Stream } from "effect"
import { countSetting } from "../domain/countSetting.ts"
import type { Address, Mint } from "../domain/Address.ts"
import type { TapeTrade } from "../market/model/TapeTrade.ts"
import { keepRunning } from "../operations/keepRunning.ts"
import { TradeHistory } from "../market/model/TradeHistory.ts"
import { Market } from "../market/tape/Market.ts"
import { WatchedWallets } from "../market/tape/WatchedWallets.ts"
import { WalletRings } from "./WalletRings.ts"
import { takeShare, type WalletShare } from "./walletShare.ts"

/** Trades held of one wallet, up to its share. Times in milliseconds since the Unix epoch. */
export interface WalletHistory {
  /** Newest first. Of a watched wallet that does not trade they are transfers. */
  readonly trades: ReadonlyArray<TapeTrade>
  /** True if the share is used up, so that older trades may exist. */
  readonly truncated: boolean
  /**
   * Start of the held trades. Later than `liveSinceMs` when older trades were dropped, earlier when blocks are missing.
   */
  readonly coveredFromMs: number
  /** Time of the last block read. */
  readonly coveredUntilMs: number
  /** Start of the span without missing blocks; null before the first block. */
  readonly liveSinceMs: number | null
  /** Trades of blocks without a block time; null when not counted. */
  readonly undated: number | null
}

/** The index did not answer. */
export class WalletIndexUnavailable extends Schema.TaggedError<WalletIndexUnavailable>()("WalletIndexUnavailable", {
  cause: Schema.Defect()
}) {
  override get message(): string {
    return "the wallet index does not answer"
  }
}

/** Held trades of wallets. Reading neither loads trades nor starts tracking a wallet. */
export class WalletIndex extends Context.Service<
  WalletIndex,
  {
    /** The newest trades of a wallet up to its share; null when none is held. */
    read(wallet: Address, share: WalletShare): Effect.Effect<WalletHistory | null, WalletIndexUnavailable>
  }
>()("fathom/wallets/WalletIndex") {
  /**
   * Trades applied to the tape from now on, in memory. `WALLET_TRADES` (500,000) bounds the trades held in all: the least
   * recently active wallets are dropped first.
   */
  static readonly layerMemory: Layer.Layer<WalletIndex, Config.ConfigError, Market> = Layer.effect(
    WalletIndex,
    Effect.gen(function* () {
      const tape = yield* Market
      const rings = new WalletRings(yield* mostTrades)
      yield* tape.applied.pipe(
        Stream.runForEach((batch) => Effect.sync(() => rings.add(batch))),
        keepRunning("Indexing trades of wallets"),
        Effect.forkScoped({ startImmediately: true })
      )
      const read = (wallet: Address, share: WalletShare) =>
        Effect.sync(() => {
          const held = rings.of(wallet)
          return held && historyOf(tape, { ...held, ...takeShare(held.trades, share) })
        })
      return WalletIndex.of({ read })
    })
  )

  /**
   * Trades from the trade store, and transfers of the mints that the wallet had traded by then. Other transfers count
   * only for watched wallets, because whether one was stored depends on what was in memory when its block was read.
   */
  static readonly layerStored: Layer.Layer<WalletIndex, never, TradeHistory | Market> = Layer.effect(
    WalletIndex,
    Effect.gen(function* () {
      const tape = yield* Market
      const history = yield* TradeHistory
      const watched = yield* WatchedWallets
      const read = Effect.fn("WalletIndex.read")(function* (wallet: Address, share: WalletShare) {
        const trades = yield* Effect.mapError(
          history.ofWallet(wallet, share.events),
          (cause) => new WalletIndexUnavailable({ cause })
        )
        const taken = takeShare(trades, share)
        const counted = watched.has(wallet) ? taken.trades : sinceTraded(taken.trades)
        return historyOf(tape, { ...taken, trades: counted, undated: null, droppedBeforeMs: null })
      })
      return WalletIndex.of({ read })
    })
  )
}

/** `WALLET_TRADES` (500,000): trades kept for summaries where there is no store. */
export const mostTrades = countSetting("WALLET_TRADES", 500_000)

/** The trades, and the transfers of a mint from the block of its first trade on. Newest first. */
const sinceTraded = (trades: ReadonlyArray<TapeTrade>): ReadonlyArray<TapeTrade> => {
  const tradedAt = new Map<Mint, number>()
  for (const { mint, role, slot } of trades) {
    if (role !== "transfer") {
      tradedAt.set(mint, slot)
    }
  }
  return trades.filter(({ mint, role, slot }) => role !== "transfer" || slot >= (tradedAt.get(mint) ?? Infinity))
}

/** The history of a wallet that trades; null without a trade: transfers alone say nothing of profits. */
export const tradingHistory = (history: WalletHistory | null): WalletHistory | null =>
  history?.trades.some(({ role }) => role !== "transfer") === true ? history : null

interface Held {
  readonly trades: ReadonlyArray<TapeTrade>
  readonly truncated: boolean
  readonly undated: number | null
  /** Trades before this time may have been dropped, in addition to the trades beyond the share. */
  readonly droppedBeforeMs: number | null
}

const historyOf = (
  tape: Pick<Market["Service"], "since" | "state">,
  { droppedBeforeMs, trades, truncated, undated }: Held
): WalletHistory | null => {
  const [oldest, newest] = [trades.at(-1), trades[0]]
  if (oldest === undefined || newest === undefined) {
    return null
  }
  const since = tape.since() * 1000
  const liveSinceMs = Number.isFinite(since) ? since : null
  const coveredFromMs = truncated ? oldest.timeMs : Math.min(oldest.timeMs, droppedBeforeMs ?? liveSinceMs ?? Infinity)
  const coveredUntilMs = Math.max(newest.timeMs, tape.state.now * 1000)
  return { trades, truncated, undated, coveredFromMs, coveredUntilMs, liveSinceMs }
}
