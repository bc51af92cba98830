/** Attribution of public trades to callouts, by links that the application knows. */
import type { Address, Mint } from "../domain/Address.ts"
import type { AttributedTrade } from "../domain/wallets/Callout.ts"
import { BPS } from "../domain/units.ts"
import type { TapeTrade } from "../market/tape/TapeTrade.ts"

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
  /** Volume that is worth a point. */
  readonly nanosPerPoint: bigint
}

const covers = ({ creatorId, fromMs, mint, untilMs, visitorId }: CalloutLink, trade: TapeTrade): boolean =>
  mint === trade.mint && fromMs <= trade.timeMs && trade.timeMs < untilMs && visitorId !== creatorId

/** The visit that came last; of several at one moment that to the callout with the smaller id. */
const lastOf = (links: ReadonlyArray<CalloutLink>): CalloutLink | undefined =>
  links.toSorted((a, b) => b.fromMs - a.fromMs || (a.calloutId < b.calloutId ? -1 : 1))[0]

/**
 * The callout that a trade counts for: it trades the callout's mint, from a wallet that was linked before it and whose
 * owner did not post it, before the callout expires. Of several the last visit counts. Null for all other trades, for
 * the swaps that a whole route is made of, and where the volume in dollars is unknown. Both amounts are rounded down.
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
