/** Trades of wallets as alerts see them, and the firings that they cause, as pure functions. */
import { fromAtomic, tenTo } from "../domain/decimal.ts"
import { compare, fractionOf } from "../domain/rational.ts"
import {
  type Alert,
  type FiringTrade,
  MOST_TRADE_FIRINGS,
  type TradeTally,
  type WalletTrade
} from "../api/schemas/Alert.ts"
import { lamportsOf } from "../market/model/solWorth.ts"
import type { TapeTrade } from "../market/model/TapeTrade.ts"
import { orderKey } from "../market/model/TradeRecord.ts"

/** Digits of the units in which worth is counted: nano-dollars and lamports. */
const WORTH_DIGITS = 9

/** The trade of the wallet; null for a transfer, and for a pool swap, which is a part of a trade. */
export const walletTradeOf = (trade: TapeTrade): WalletTrade | null => {
  const { amount, index, mint, role, side, signature, slot, timeMs, volumeUsdNanos, wallet } = trade
  return role === "wallet" || role === "both"
    ? {
        signature,
        slot,
        index,
        mint,
        wallet,
        side,
        amount,
        usdNanos: volumeUsdNanos,
        lamports: lamportsOf(trade),
        observedAtMs: timeMs
      }
    : null
}

/** The place of a trade in the order of the chain. */
export const placeOfTrade = ({ index, slot }: Pick<WalletTrade, "index" | "slot">): number => orderKey(slot, index)

/** Worth of the trade in billionths of the unit of the alert; null when unknown. */
const worthOf = ({ condition: { metric } }: Pick<Alert, "condition">, trade: WalletTrade): bigint | null =>
  metric === "wallet_trade_sol" ? trade.lamports : trade.usdNanos

const isLarge = ({ condition }: Pick<Alert, "condition">, worth: bigint): boolean =>
  compare({ numerator: worth, denominator: tenTo(WORTH_DIGITS) }, fractionOf(condition.threshold)) >= 0

/**
 * True when the alert watches the trade, whatever it was worth: its wallet, side and token, after it was set or
 * resumed.
 */
const isWatched = (alert: Alert, trade: WalletTrade): boolean =>
  trade.wallet === alert.wallet &&
  (alert.mint === null || trade.mint === alert.mint) &&
  (alert.side === "either" || trade.side === alert.side) &&
  placeOfTrade(trade) >= alert.mark &&
  // Block times are whole seconds.
  trade.observedAtMs >= alert.createdAtMs - (alert.createdAtMs % 1000)

/** True for a trade that changes the alert: it fires, is left out, or has no known worth. */
export const concerns = (alert: Alert, trade: WalletTrade): boolean => {
  const worth = worthOf(alert, trade)
  return isWatched(alert, trade) && (worth === null || isLarge(alert, worth))
}

/** Earlier firings of an alert that affect the next one. */
export interface EarlierFirings {
  /** The `keyOfTrade` of each firing. */
  readonly keys: ReadonlySet<string>
  /** Firings in the last hour. */
  readonly count: number
}

/** Identifies a trade among the firings of an alert. */
export const keyOfTrade = ({ index, signature }: Pick<WalletTrade, "index" | "signature">): string =>
  `${signature} ${index}`

/** A firing on a trade. */
export interface TradeFiring {
  readonly trade: FiringTrade
  readonly mint: WalletTrade["mint"]
  readonly value: string
  readonly observedAtMs: number
}

/** The firings that trades cause, in their order, and the counts after them. */
export interface TradeOutcome {
  readonly firings: ReadonlyArray<TradeFiring>
  readonly tally: TradeTally
}

const firingOf = (trade: WalletTrade, worth: bigint, leftOut: number): TradeFiring => {
  const { amount, index, mint, observedAtMs, side, signature, slot, wallet } = trade
  return {
    trade: { signature, slot, index, wallet, side, amount: amount.toString(), leftOut },
    mint,
    value: fromAtomic(worth, WORTH_DIGITS),
    observedAtMs
  }
}

/**
 * Applies trades in the order of the chain. A trade that has fired does not fire again, and a trade up to `countedTo`
 * is not counted again. So this process or another may apply blocks again. A trade of unknown worth is counted and does
 * not fire. At most `MOST_TRADE_FIRINGS` fire in an hour, and none during the cooldown; the others are counted as left
 * out.
 */
export const fireTrades = (
  alert: Alert,
  trades: ReadonlyArray<WalletTrade>,
  earlier: EarlierFirings,
  nowMs: number
): TradeOutcome => {
  const cooldownMs = (alert.cooldownSeconds ?? 0) * 1000
  const firings: Array<TradeFiring> = []
  const most = alert.recurrence === "once" ? 1 : MOST_TRADE_FIRINGS - earlier.count
  let tally = alert.tally
  let restsUntilMs = cooldownMs === 0 ? 0 : (alert.lastTriggeredAtMs ?? -cooldownMs) + cooldownMs
  for (const trade of trades) {
    const worth = worthOf(alert, trade)
    const place = placeOfTrade(trade)
    const isNew = place > tally.countedTo
    if (!concerns(alert, trade) || earlier.keys.has(keyOfTrade(trade))) {
      continue
    }
    if (worth === null) {
      tally = isNew ? { ...tally, countedTo: place, unvalued: tally.unvalued + 1 } : tally
    } else if (firings.length < most && trade.observedAtMs >= restsUntilMs) {
      firings.push(firingOf(trade, worth, tally.leftOut - tally.leftOutStated))
      tally = { ...tally, countedTo: Math.max(place, tally.countedTo), leftOutStated: tally.leftOut }
      restsUntilMs = cooldownMs === 0 ? 0 : nowMs + cooldownMs
      if (alert.recurrence === "once") {
        break
      }
    } else if (isNew) {
      tally = { ...tally, countedTo: place, leftOut: tally.leftOut + 1 }
    }
  }
  return { firings, tally }
}
