import { Context, type Effect } from "effect"
import type {
  CopyFill,
  CopySlice,
  FilledCopy,
  FillSelection,
  Follow,
  FollowSelection,
  FollowStoreUnavailable,
  NewFollow
} from "../../api/schemas/Copying.ts"

/** Count of filled copies of a follow. Copies are only appended. */
export interface FollowProgress {
  readonly followId: string
  /** Changes when the follow is deleted and recorded again, which invalidates earlier copies. */
  readonly generation: string
  readonly filled: number
}

/** The filled copies of a follow with turn numbers above `after`, up to `through`. */
export interface TurnSelection {
  readonly accountId: string
  readonly followId: string
  readonly after: number
  readonly through: number
}

/** Follows and their fills, written by the copying application; no endpoint writes. */
export class FollowStore extends Context.Service<
  FollowStore,
  {
    /**
     * Stores a follow that is new, or whose `updatedAtMs` is later than the stored one. Otherwise false, without
     * effect; also when another account has the id. An invalid follow is a defect.
     */
    recordFollow(follow: NewFollow): Effect.Effect<boolean, FollowStoreUnavailable>
    /**
     * Stores a fill. False, without effect, when it is already stored or its follow is unknown. A pending fill can
     * change once to its final status.
     */
    recordFill(fill: CopyFill): Effect.Effect<boolean, FollowStoreUnavailable>
    /** Deletes every follow of the account except `kept`, with its fills. Used for copies of a discarded chain. */
    forgetOthers(accountId: string, kept: ReadonlyArray<string>): Effect.Effect<void, FollowStoreUnavailable>
    /** The account's follow with this id; null when it has none. */
    find(accountId: string, id: string): Effect.Effect<Follow | null, FollowStoreUnavailable>
    /** One page of follows, newest first. */
    follows(selection: FollowSelection): Effect.Effect<CopySlice<Follow>, FollowStoreUnavailable>
    /** One page of fills. The fill of the newest leader's trade comes first. */
    fills(selection: FillSelection): Effect.Effect<CopySlice<CopyFill>, FollowStoreUnavailable>
    /** Progress of every follow of the account. */
    progress(accountId: string): Effect.Effect<ReadonlyArray<FollowProgress>, FollowStoreUnavailable>
    /** Filled copies in recording order, which may differ from execution order. */
    inTurn(selection: TurnSelection): Effect.Effect<ReadonlyArray<FilledCopy>, FollowStoreUnavailable>
  }
>()("fathom/wallets/copying/FollowStore") {}
