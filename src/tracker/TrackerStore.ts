import { Context, type Effect, type Stream } from "effect"
import type { Address } from "../domain/Address.ts"
import type {
  GroupId,
  TooManyWallets,
  Tracked,
  TrackerGroup,
  TrackerStoreUnavailable,
  Tracking,
  UnknownGroup,
  WalletActivity
} from "../domain/wallets/Tracker.ts"
import type { TrackerOverview } from "./overview.ts"

/** Which accounts track which wallets. Every account has a Main group; nothing of one account can be asked by another. */
export class TrackerStore extends Context.Service<
  TrackerStore,
  {
    /** What the account tracks, in one group or in all. */
    overview(request: {
      readonly accountId: string
      readonly groupId: GroupId | null
    }): Effect.Effect<TrackerOverview, UnknownGroup | TrackerStoreUnavailable>
    /** Puts a wallet into a group, tracked from now on; one that is there already has its texts updated. At most 500 wallets. */
    add(tracking: Tracking): Effect.Effect<Tracked, UnknownGroup | TooManyWallets | TrackerStoreUnavailable>
    /** Takes a wallet out of every group. False when it was in none. */
    remove(request: {
      readonly accountId: string
      readonly wallet: Address
    }): Effect.Effect<boolean, TrackerStoreUnavailable>
    /** Makes a group of the account. Names need not differ. A name that is no label is a defect. */
    createGroup(request: {
      readonly accountId: string
      readonly name: string
    }): Effect.Effect<TrackerGroup, TrackerStoreUnavailable>
    /** Notes what wallets did, for every account that tracked them then. Never moves a time back. */
    recordActivity(batch: ReadonlyArray<WalletActivity>): Effect.Effect<void, TrackerStoreUnavailable>
    /** Accounts whose groups, wallets or texts have just changed, anywhere. Activity is no change. */
    readonly changes: Stream.Stream<string>
  }
>()("fathom/tracker/TrackerStore") {}
