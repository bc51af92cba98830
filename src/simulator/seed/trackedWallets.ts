/** Whom an invented owner of keys watches. */
import type { Address } from "../../domain/Address.ts"
import type { SimWallet } from "../traders/cast.ts"
import { WELCOME } from "../venues/fundingWorld.ts"

/** A wallet that is still to be tracked. */
export interface SimTracked {
  readonly accountId: string
  readonly wallet: Address
  readonly group: string | null
  readonly label: string
  readonly emoji: string
}

const watched: ReadonlyArray<readonly [wallet: string, group: string | null, label: string, emoji: string]> = [
  ["whale 1", "Whales", "Grey whale", "🐋"],
  ["whale 2", "Whales", "Blue whale", "🐳"],
  ["arbitrageur 1", null, "The fast one", "⚡"],
  ["retail 1", null, "First in line", "🦦"],
  ["retail 2", null, "Second thoughts", "🐢"],
  ["retail 3", null, "Diamond hands", "💎"]
]

/** The wallets that the account of the welcome keys tracks: big ones in a group of their own, quick ones, and some of the crowd. */
export const trackedWalletsOf = (wallets: ReadonlyArray<SimWallet>): ReadonlyArray<SimTracked> =>
  watched.flatMap(([name, group, label, emoji]) => {
    const found = wallets.find((wallet) => wallet.label === name)
    return found === undefined ? [] : [{ accountId: WELCOME, wallet: found.address, group, label, emoji }]
  })
