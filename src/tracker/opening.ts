/** What a market without people begins with. */
import { Context, Effect } from "effect"
import type { Address } from "../domain/Address.ts"
import type { TooManyWallets, TrackerStoreUnavailable, UnknownGroup } from "../domain/wallets/Tracker.ts"
import { TrackerStore } from "./TrackerStore.ts"

/** A wallet that somebody invented tracks. */
export interface OpeningWallet {
  readonly accountId: string
  readonly wallet: Address
  /** The name of a group, made for it; null for Main. */
  readonly group: string | null
  readonly label: string
  readonly emoji: string
  readonly notes?: string
}

/** Wallets to track from the beginning: none, unless the market is invented. */
export const OpeningWallets = Context.Reference<ReadonlyArray<OpeningWallet>>("fathom/tracker/OpeningWallets", {
  defaultValue: () => []
})

const trackAll = Effect.fnUntraced(function* (accountId: string, wallets: ReadonlyArray<OpeningWallet>) {
  const store = yield* TrackerStore
  const before = yield* store.overview({ accountId, groupId: null })
  // Whoever has made the list their own, by a group or a wallet, does not find it changed by a restart.
  if (before.wallets.length > 0 || before.groups.length > 1) {
    return
  }
  const names = new Set(wallets.flatMap(({ group }) => (group === null ? [] : [group])))
  const made = yield* Effect.forEach(names, (name) => store.createGroup({ accountId, name }))
  yield* Effect.forEach(
    wallets,
    ({ group, ...wallet }) =>
      store.add({ ...wallet, groupId: made.find(({ name }) => name === group)?.groupId ?? null }),
    { discard: true }
  )
})

/** Tracks them for accounts that track nothing yet. A store that is away is no reason not to begin. */
export const trackOpening: Effect.Effect<void, never, TrackerStore> = Effect.gen(function* () {
  const opening = yield* OpeningWallets
  for (const accountId of new Set(opening.map((wallet) => wallet.accountId))) {
    yield* trackAll(
      accountId,
      opening.filter((wallet) => wallet.accountId === accountId)
    )
  }
}).pipe(
  Effect.catch((error: TrackerStoreUnavailable | UnknownGroup | TooManyWallets) =>
    Effect.logWarning("The opening wallets are not tracked", error)
  )
)
