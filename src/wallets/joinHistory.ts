/** Observed trades of a wallet together with those of its own history. Pure. */
import type { CoverageReason } from "../domain/Scalar.ts"
import type { WalletBackfill } from "../domain/wallets/WalletBackfill.ts"
import type { HistoryProgress } from "./historyProgress.ts"
import { byChainOrder } from "./ledger.ts"
import type { LedgerHistory } from "./LedgerReader.ts"
import type { WalletHistory } from "./WalletIndex.ts"
import { takeShare, type WalletShare } from "./walletShare.ts"

/** True when the history ends no earlier than the observed span begins. */
export const isContiguous = ({ throughMs }: HistoryProgress, observed: WalletHistory | null): boolean =>
  throughMs !== null && (observed === null || throughMs >= (observed.liveSinceMs ?? observed.coveredFromMs))

/**
 * The observed trades with those of the history that were not observed, up to the share. An observed trade counts as it was
 * observed, so that a history changes no figure that was whole before. Null without trades.
 */
export const joinHistory = (
  observed: WalletHistory | null,
  { progress, trades }: LedgerHistory,
  share: WalletShare
): WalletHistory | null => {
  // The share is used up by newer trades.
  if (observed?.truncated === true || trades.length === 0) {
    return observed === null || observed.truncated || !isContiguous(progress, observed)
      ? observed
      : { ...observed, coveredFromMs: Math.min(observed.coveredFromMs, progress.fromMs ?? Infinity) }
  }
  const known = new Set(observed?.trades.map(({ signature }) => signature))
  const added = trades.filter(({ signature }) => !known.has(signature))
  const all = [...(observed?.trades ?? []), ...added].toSorted((a, b) => byChainOrder(b, a))
  const taken = takeShare(all, share)
  const [oldest, newest] = [taken.trades.at(-1), taken.trades[0]]
  if (oldest === undefined || newest === undefined) {
    return observed
  }
  const { fromMs, throughMs } = progress
  const joinedFromMs = isContiguous(progress, observed) ? (fromMs ?? Infinity) : Infinity
  return {
    trades: taken.trades,
    truncated: taken.truncated,
    undated: observed?.undated ?? 0,
    liveSinceMs: observed?.liveSinceMs ?? null,
    coveredFromMs: taken.truncated
      ? oldest.timeMs
      : Math.min(observed?.coveredFromMs ?? fromMs ?? oldest.timeMs, joinedFromMs),
    coveredUntilMs: Math.max(observed?.coveredUntilMs ?? throughMs ?? 0, newest.timeMs)
  }
}

/** True when every transaction of the wallet's life was read and its trades are all here. */
export const isWholeLife = (progress: HistoryProgress | null, history: WalletHistory | null): boolean =>
  progress !== null &&
  progress.isWhole &&
  progress.missing === 0 &&
  history?.truncated !== true &&
  isContiguous(progress, history)

/** The reason why not all of a wallet's life is known; null when it is. */
export const historyReason = (
  progress: HistoryProgress | null,
  history: WalletHistory | null
): CoverageReason | null => {
  if (progress === null) {
    return "observed_swaps_only"
  }
  if (progress.state === "running") {
    return "backfill_running"
  }
  if (isWholeLife(progress, history)) {
    return null
  }
  if (progress.state === "failed" || progress.missing > 0) {
    return "not_captured"
  }
  return isContiguous(progress, history) ? "limit_clipped" : "source_gap"
}

/** The state of a wallet's reading in the type of the contract; null when it was never asked for. */
export const backfillBody = (
  progress: HistoryProgress | null,
  history: WalletHistory | null,
  isAsked: boolean
): WalletBackfill | null => {
  if (progress === null) {
    const span = { fromMs: null, throughMs: null }
    return isAsked
      ? {
          status: "unavailable",
          reason: "not_captured",
          transactions: 0,
          missing: 0,
          ...span,
          whole: false,
          error: null
        }
      : null
  }
  const { error, fromMs, isWhole, missing, read, state, throughMs } = progress
  return {
    status: state,
    reason: historyReason(progress, history),
    transactions: read,
    missing,
    fromMs,
    throughMs,
    whole: isWhole,
    error
  }
}
