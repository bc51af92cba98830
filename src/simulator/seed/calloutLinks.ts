/** Who came through the share pages of the invented callouts. */
import type { Address, Mint } from "../../domain/Address.ts"
import type { SimCallout } from "./callouts.ts"

/** A wallet that a callout brought. */
export interface SimCalloutLink {
  readonly calloutId: string
  readonly mint: Mint
  readonly wallet: Address
  readonly visitorId: string
  readonly creatorId: string
  readonly fromMs: number
  readonly untilMs: number
}

/** The wallets that a callout brought in its past come again now, and what they trade from then on counts too. */
export const calloutLinksOf = (callouts: ReadonlyArray<SimCallout>, nowMs: number): ReadonlyArray<SimCalloutLink> =>
  callouts.flatMap(({ callout, trades }) =>
    Array.from(new Set(trades.map(({ trader }) => trader)), (wallet) => ({
      calloutId: callout.id,
      mint: callout.mint,
      wallet,
      visitorId: `u_of_${wallet}`,
      creatorId: callout.creator.id,
      fromMs: nowMs,
      untilMs: callout.expiresAtMs
    }))
  )
