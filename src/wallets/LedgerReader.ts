import { Clock, type Config, Context, Effect, Layer, Schema } from "effect"
import { Address } from "../domain/Address.ts"
import { keepRunning } from "../operations/keepRunning.ts"
import type { TapeTrade } from "../market/model/TapeTrade.ts"
import { TransactionHistory } from "../chain/rpc/TransactionHistory.ts"
import { backfillSettings, makeBackfill } from "./backfill.ts"
import type { HistoryProgress } from "./historyProgress.ts"
import { HistoryStore } from "./HistoryStore.ts"
import { Position } from "./ledger.ts"
import { unitsOf } from "./lots.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** The positions of a wallet by a native ledger, network fees included. Times in milliseconds since the Unix epoch. */
export class LedgerProjection extends Schema.Opaque<LedgerProjection>()(
  Schema.Struct({
    wallet: Address,
    /** The span of history covered. */
    fromMs: Count,
    throughMs: Count,
    /** Ledger entries covered. */
    events: Count,
    positions: Schema.Array(Position)
  })
) {}

/** The ledger did not answer. */
export class LedgerUnavailable extends Schema.TaggedError<LedgerUnavailable>()("LedgerUnavailable", {
  cause: Schema.Defect()
}) {}

/** Trades of a wallet that were read from its transactions. */
export interface LedgerHistory {
  readonly progress: HistoryProgress
  /** Newest first. Some of them may also have been observed. */
  readonly trades: ReadonlyArray<TapeTrade>
}

/**
 * Ledgers of wallets beside the observed trades: projections of a native trade ledger, which includes the fees that a wallet
 * paid, and histories read from the chain. Projections are untrusted: `faultOf` checks them before use.
 */
export class LedgerReader extends Context.Service<
  LedgerReader,
  {
    /** The projection of a wallet; null when there is none. */
    read(wallet: Address): Effect.Effect<LedgerProjection | null, LedgerUnavailable>
    /** The newest trades of a wallet's own history, at most `limit`; null when the history was never requested. */
    historyOf(wallet: Address, limit: number): Effect.Effect<LedgerHistory | null, LedgerUnavailable>
    /** Starts reading the history of wallets for a caller, or what came since. Returns before anything is read. */
    backfill(wallets: ReadonlyArray<Address>, caller: string): Effect.Effect<void, LedgerUnavailable>
  }
>()("fathom/wallets/LedgerReader") {
  /** No native ledger and no histories: summaries are made from observed swaps. */
  static readonly layerNone: Layer.Layer<LedgerReader> = Layer.succeed(LedgerReader, {
    read: () => Effect.succeed(null),
    historyOf: () => Effect.succeed(null),
    backfill: () => Effect.fail(new LedgerUnavailable({ cause: new Error("histories of wallets are not read") }))
  })

  /**
   * Histories read from a node: at most the newest `WALLET_HISTORY` (1,000) transactions of a wallet, at
   * `WALLET_HISTORY_RATE` (10) transactions a second over all wallets, which take turns. A restart continues where the
   * previous run ended. With `WALLET_HISTORY=0` none is read.
   */
  static readonly layerBackfill: Layer.Layer<LedgerReader, Config.ConfigError, HistoryStore | TransactionHistory> =
    Layer.unwrap(
      Effect.map(backfillSettings, (settings) =>
        settings.most === 0
          ? LedgerReader.layerNone
          : Layer.effect(
              LedgerReader,
              Effect.gen(function* () {
                const store = yield* HistoryStore
                const { ask, progressOf, step } = yield* makeBackfill(yield* TransactionHistory, store, settings)
                const loop = Effect.forever(Effect.flatMap(step, (pause) => Effect.sleep(pause)))
                yield* loop.pipe(keepRunning("Reading histories of wallets"), Effect.forkScoped)
                return LedgerReader.of({
                  read: () => Effect.succeed(null),
                  historyOf: Effect.fnUntraced(function* (wallet, limit) {
                    const progress = progressOf(wallet, yield* Clock.currentTimeMillis)
                    const trades = progress === null ? [] : yield* store.ofWallet(wallet, limit)
                    return progress && { progress, trades }
                  }, Effect.mapError(unavailable)),
                  backfill: (wallets, caller) => Effect.mapError(ask(wallets, caller), unavailable)
                })
              })
            )
      )
    )
}

const unavailable = (cause: unknown) => new LedgerUnavailable({ cause })

/** Waits before the next step: for a second when the step died and gave no pause. */
const isWhole = Schema.is(LedgerProjection)

const isSound = ({ boughtUnits, buys, held, lots, sells, soldUnits }: Position): boolean =>
  (held === null || held === unitsOf(lots)) &&
  lots.known + lots.unpriced <= boughtUnits &&
  (lots.known > 0n || lots.costNanos === 0n) &&
  (buys > 0 || boughtUnits === 0n) &&
  (sells > 0 || soldUnits === 0n)

/**
 * True when realized equals proceeds minus the cost of the units sold. Also true when an amount is unknown, or when
 * units left by a transfer.
 */
const addsUp = ({ boughtNanos, boughtUnits, lots, proceedsNanos, realizedNanos, soldUnits }: Position): boolean =>
  boughtNanos === null ||
  proceedsNanos === null ||
  realizedNanos === null ||
  lots.known !== boughtUnits - soldUnits ||
  realizedNanos === proceedsNanos - (boughtNanos - lots.costNanos)

/** The first inconsistency of a projection; null when it is consistent. */
export const faultOf = (projection: LedgerProjection, wallet: Address, nowMs: number): string | null => {
  if (!isWhole(projection)) {
    return "its fields do not match the schema"
  }
  if (projection.wallet !== wallet) {
    return "it belongs to another wallet"
  }
  if (projection.fromMs > projection.throughMs || projection.throughMs > nowMs) {
    return "its time span is invalid"
  }
  if (new Set(projection.positions.map(({ mint }) => mint)).size < projection.positions.length) {
    return "a mint occurs twice"
  }
  const wrong = projection.positions.find((entry) => !isSound(entry) || !addsUp(entry))
  return wrong === undefined ? null : `its position in ${wrong.mint} does not add up`
}
