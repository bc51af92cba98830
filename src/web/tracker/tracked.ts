/** Tracked wallets and groups as the API gives them. */
import type { Answer } from "../data/contract.ts"

/** Groups, wallets and status. */
export type Snapshot = Answer<"GET /api/v1/tracker/snapshot">

export type Wallet = Snapshot["wallets"][number]

export type Group = Snapshot["groups"][number]

/** Labels of wallets for display, emoji first; null for a wallet without a label. */
export const labelsOf = (wallets: ReadonlyArray<Wallet>): ReadonlyMap<string, string | null> =>
  new Map(
    wallets.map(({ emoji, label, wallet }) => {
      const words = [emoji, label].filter((part) => part !== null).join(" ")
      return [wallet, words === "" ? null : words] as const
    })
  )
