/** Attribution of public trades to callouts, by links that the application knows. */
import type { Address, Mint } from "../domain/Address.ts"
import type { AttributedTrade } from "../api/schemas/Callout.ts"
import { BPS } from "../domain/units.ts"
import type { TapeTrade } from "../market/model/TapeTrade.ts"

/**
 * A wallet whose owner came through a callout's share page. Visits are not on the chain, so only the application that
 * people connect their wallets to can know it.
 */
export interface CalloutLink {
  readonly calloutId: string
  readonly mint: Mint
  readonly wallet: Address
  /** The user who owns the wallet, according to the application. */
  readonly visitorId: string
  /** The user who posted the callout; own trades are not attributed. */
  readonly creatorId: string
  /** Time of the visit. */
  readonly fromMs: number
  /** Time at which the callout expires. */
  readonly untilMs: number
}

/** The reward of a callout's creator for a trade. */
export interface Terms {
  /** Hundredths of a percent of the volume. */
  readonly creatorBps: number
  /** Volume that earns a point. */
  readonly nanosPerPoint: bigint
}

const covers = ({ creatorId, fromMs, mint, untilMs, visitorId }: CalloutLink, trade: TapeTrade): boolean =>
  mint === trade.mint && fromMs <= trade.timeMs && trade.timeMs < untilMs && visitorId !== creatorId

/** The latest visit. Of several at the same moment, the visit to the callout with the smaller id counts. */
const lastOf = (links: ReadonlyArray<CalloutLink>): CalloutLink | undefined =>
  links.toSorted((a, b) => b.fromMs - a.fromMs || (a.calloutId < b.calloutId ? -1 : 1))[0]

/**
 * The callout that a trade counts for. The trade has to be of the callout's mint, before the callout expires, from a
 * wallet that was linked earlier and whose owner did not post the callout. Of several callouts the last visit counts.
 * Null for all other trades, for the swaps that make up a whole route, and when the volume in dollars is unknown. Both
 * amounts are rounded down.
 */
export const attributionOf = (
  trade: TapeTrade,
  links: ReadonlyArray<CalloutLink>,
  { creatorBps, nanosPerPoint }: Terms
): AttributedTrade | null => {
  const { index, role, signature, volumeUsdNanos, wallet } = trade
  if (role === "pool" || volumeUsdNanos === null) {
    return null
  }
  const link = lastOf(links.filter((each) => each.wallet === wallet && covers(each, trade)))
  if (link === undefined) {
    return null
  }
  return {
    tradeId: `${signature}:${index}`,
    calloutId: link.calloutId,
    trader: wallet,
    volumeUsdNanos,
    earnedUsdNanos: (volumeUsdNanos * BigInt(creatorBps)) / BPS,
    points: volumeUsdNanos / nanosPerPoint
  }
}
