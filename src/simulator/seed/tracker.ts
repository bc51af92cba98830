/** Demo wallets tracked by the account of the first keys. */
import { Effect } from "effect"
import type { Address } from "../../domain/Address.ts"
import { TrackerStore } from "../../wallets/tracker/TrackerStore.ts"
import type { SimWallet } from "../traders/cast.ts"
import { WELCOME } from "../venues/fundingWorld.ts"
import { patiently } from "./patience.ts"

interface SimTracked {
  readonly wallet: Address
  /** Name of its group, which is created when missing; null for Main. */
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

/** The wallets to track: whales in their own group, an arbitrageur, and some retail traders. */
export const trackedWalletsOf = (wallets: ReadonlyArray<SimWallet>): ReadonlyArray<SimTracked> =>
  watched.flatMap(([name, group, label, emoji]) => {
    const found = wallets.find((wallet) => wallet.label === name)
    return found === undefined ? [] : [{ wallet: found.address, group, label, emoji }]
  })

/** Tracks the wallets, unless the account already tracks some or has created a group. */
export const seedTracker = Effect.fnUntraced(function* (wanted: ReadonlyArray<SimTracked>) {
  const store = yield* TrackerStore
  const overview = store.overview({ accountId: WELCOME, groupId: null })
  /**
   * Finds or creates the group with that name. It is looked up before each attempt to create it, because a failed
   * attempt may have written it.
   */
  const groupNamed = (name: string) =>
    Effect.flatMap(overview, ({ groups }) => {
      const found = groups.find((group) => group.name === name)
      return found === undefined ? store.createGroup({ accountId: WELCOME, name }) : Effect.succeed(found)
    })
  const { groups, wallets } = yield* patiently(overview)
  // Do not touch a list that its owner has changed.
  if (wallets.length > 0 || groups.length > 1) {
    return
  }
  for (const { group, ...tracked } of wanted) {
    const groupId = group === null ? null : (yield* patiently(groupNamed(group))).groupId
    yield* patiently(store.add({ ...tracked, accountId: WELCOME, groupId }))
  }
})
