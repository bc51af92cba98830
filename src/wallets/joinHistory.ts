/** Joins the observed trades of a wallet with the trades of its own history. Pure. */
import { isOnCurve } from "../chain/programAddress.ts"
import { type Address, addressToBytes } from "../domain/Address.ts"
import type { CoverageReason } from "../domain/Scalar.ts"
import type { WalletBackfill } from "../api/schemas/WalletBackfill.ts"
import type { HistoryProgress } from "./historyProgress.ts"
import { byChainOrder } from "./ledger.ts"
import type { LedgerHistory } from "./LedgerReader.ts"
import type { WalletHistory } from "./WalletIndex.ts"
import { takeShare, type WalletShare } from "./walletShare.ts"

/** True when the history ends no earlier than the observed span begins. */
export const isContiguous = ({ throughMs }: HistoryProgress, observed: WalletHistory | null): boolean =>
  throughMs !== null && (observed === null || throughMs >= (observed.liveSinceMs ?? observed.coveredFromMs))

/**
 * The observed trades, and the trades of the history that were not observed, up to the share. An observed trade keeps
 * its observed form, so that a history changes no figure that was whole before. Null without trades.
 */
export const joinHistory = (
  observed: WalletHistory | null,
  { progress, trades }: LedgerHistory,
  share: WalletShare
): WalletHistory | null => {
  // Newer trades use up the share.
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

/** True when every transaction of the wallet's life was read and all of its trades are here. */
export const isWholeLife = (progress: HistoryProgress | null, history: WalletHistory | null): boolean =>
  progress !== null &&
  progress.isWhole &&
  progress.missing === 0 &&
  history?.truncated !== true &&
  isContiguous(progress, history)

/** Why the wallet's life is not completely known; null when it is. */
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

/** True for an address that no key can sign for. */
const isProgramOwned = (wallet: Address): boolean => !isOnCurve(addressToBytes(wallet))

/** The state of reading a wallet in the type of the contract; null when it was never requested. */
export const backfillBody = (
  wallet: Address,
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
          expected: null,
          huge: null,
          programOwned: isProgramOwned(wallet),
          error: null
        }
      : null
  }
  const { error, expected = null, fromMs, isHuge = null, isWhole, missing, read, state, throughMs } = progress
  return {
    status: state,
    reason: historyReason(progress, history),
    transactions: read,
    missing,
    fromMs,
    throughMs,
    whole: isWhole,
    expected,
    huge: isHuge,
    programOwned: isProgramOwned(wallet),
    error
  }
}
