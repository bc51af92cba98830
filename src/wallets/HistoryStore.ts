import { Context, type Effect, Schema } from "effect"
import type { Address } from "../domain/Address.ts"
import type { TapeTrade } from "../market/model/TapeTrade.ts"
import type { HistoryProgress } from "./historyProgress.ts"

/** The store of wallet histories did not answer, or no chain is open. */
export class HistoryStoreUnavailable extends Schema.TaggedError<HistoryStoreUnavailable>()("HistoryStoreUnavailable", {
  cause: Schema.Defect()
}) {
  override get message(): string {
    return "the store of wallet histories does not answer"
  }
}

/** A wallet and the progress of its reading. */
export interface WalletProgress {
  readonly wallet: Address
  readonly progress: HistoryProgress
  /** Time of the newest request for the history, to the minute, in milliseconds since the Unix epoch. */
  readonly askedAtMs: number
}

/** The next wallet to read. */
export interface HistoryJob extends Pick<WalletProgress, "progress" | "wallet"> {
  /** Changes with every step. */
  readonly version: number
}

/** Trades read from the transactions of single wallets, with the progress of reading. One chain at a time. */
export class HistoryStore extends Context.Service<
  HistoryStore,
  {
    /** Selects the chain for all other methods; false when nothing of it is stored yet. */
    open(genesis: string): Effect.Effect<boolean, HistoryStoreUnavailable>
    /** Starts reading wallets for a caller, or reads what came since. Wallets that already wait keep their turn. */
    ask(wallets: ReadonlyArray<Address>, caller: string): Effect.Effect<void, HistoryStoreUnavailable>
    /** Of the caller whose last turn is longest ago, the wallet that has waited longest; null when none waits. */
    readonly next: Effect.Effect<HistoryJob | null, HistoryStoreUnavailable>
    /**
     * Stores the trades of a step together with its progress, both or neither. False, without effect, when another
     * process made a step for the wallet meanwhile.
     */
    save(
      job: HistoryJob,
      progress: HistoryProgress,
      trades: ReadonlyArray<TapeTrade>
    ): Effect.Effect<boolean, HistoryStoreUnavailable>
    /**
     * Wallets whose progress changed, or that were requested, since this time, in milliseconds since the Unix epoch.
     */
    changedSince(timeMs: number): Effect.Effect<ReadonlyArray<WalletProgress>, HistoryStoreUnavailable>
    /** The newest trades of a wallet, newest first. */
    ofWallet(wallet: Address, limit: number): Effect.Effect<ReadonlyArray<TapeTrade>, HistoryStoreUnavailable>
    /**
     * Deletes the histories of a few wallets that were last requested before this time; true when there may be more.
     */
    forget(beforeMs: number): Effect.Effect<boolean, HistoryStoreUnavailable>
    /** Dollars per SOL at the close of the newest stored minute candle in `[fromMs, toMs)`; null without one. */
    solClose(fromMs: number, toMs: number): Effect.Effect<number | null, HistoryStoreUnavailable>
    /** Stored pool swaps of SOL in the slots `(after, to]`, newest first, at most `limit`. */
    solSwaps(after: number, to: number, limit: number): Effect.Effect<ReadonlyArray<TapeTrade>, HistoryStoreUnavailable>
  }
>()("fathom/wallets/HistoryStore") {}
