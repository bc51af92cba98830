import { Context, type Effect, type Stream } from "effect"
import type { Address } from "../../domain/Address.ts"
import type {
  GroupId,
  TooManyGroups,
  TooManyWallets,
  Tracked,
  TrackerGroup,
  TrackerStoreUnavailable,
  Tracking,
  UnknownGroup,
  UnknownWallet,
  WalletActivity,
  WalletChange
} from "../../api/schemas/Tracker.ts"
import type { TrackerOverview } from "./overview.ts"

/** Tracked wallets and groups by account. Every account has a Main group; accounts are isolated from each other. */
export class TrackerStore extends Context.Service<
  TrackerStore,
  {
    /** The wallets of one group or of all groups, and the list of groups. */
    overview(request: {
      readonly accountId: string
      readonly groupId: GroupId | null
    }): Effect.Effect<TrackerOverview, UnknownGroup | TrackerStoreUnavailable>
    /** Adds a wallet to a group, tracked from now on, or updates its labels. At most 500 wallets per account. */
    add(tracking: Tracking): Effect.Effect<Tracked, UnknownGroup | TooManyWallets | TrackerStoreUnavailable>
    /** Adds several wallets of one account, all of them or none. */
    addAll(
      accountId: string,
      trackings: ReadonlyArray<Tracking>
    ): Effect.Effect<ReadonlyArray<Tracked>, UnknownGroup | TooManyWallets | TrackerStoreUnavailable>
    /** Changes the texts and groups of a tracked wallet. The start of its tracking stays. */
    change(change: WalletChange): Effect.Effect<void, UnknownWallet | UnknownGroup | TrackerStoreUnavailable>
    /** Removes a wallet from every group. False when it was in none. */
    remove(request: {
      readonly accountId: string
      readonly wallet: Address
    }): Effect.Effect<boolean, TrackerStoreUnavailable>
    /** Creates a group. Names need not be unique; at most 50 groups per account. A name that is not a valid label is a defect. */
    createGroup(request: {
      readonly accountId: string
      readonly name: string
    }): Effect.Effect<TrackerGroup, TooManyGroups | TrackerStoreUnavailable>
    /** Renames a group. False for an unknown group. */
    renameGroup(request: {
      readonly accountId: string
      readonly groupId: GroupId
      readonly name: string
    }): Effect.Effect<boolean, TrackerStoreUnavailable>
    /** Deletes a group other than Main. Wallets that were in no other group move to Main. False for an unknown group. */
    removeGroup(request: {
      readonly accountId: string
      readonly groupId: GroupId
    }): Effect.Effect<boolean, TrackerStoreUnavailable>
    /** Records the newest activity of wallets for every account that tracked them at that time. Times never decrease. */
    recordActivity(batch: ReadonlyArray<WalletActivity>): Effect.Effect<void, TrackerStoreUnavailable>
    /** Accounts whose groups, wallets or labels changed in any process. Activity is not a change. */
    readonly changes: Stream.Stream<string>
  }
>()("fathom/wallets/tracker/TrackerStore") {}
