import { Context, Effect, Layer } from "effect"
import type {
  CopyFill,
  CopySlice,
  FilledCopy,
  FillSelection,
  Follow,
  FollowSelection,
  FollowStoreUnavailable,
  NewFollow
} from "../domain/wallets/Copying.ts"
import { makeMemoryFollows } from "./memoryFollows.ts"

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
     * Stores a follow. False without effect unless it is new or its `updatedAtMs` is later than the stored one; also when
     * another account has the id. An invalid follow is a defect.
     */
    recordFollow(follow: NewFollow): Effect.Effect<boolean, FollowStoreUnavailable>
    /**
     * Stores a fill. False without effect when it is already stored, except that a pending fill can change once to its
     * final status. False also when its follow is unknown.
     */
    recordFill(fill: CopyFill): Effect.Effect<boolean, FollowStoreUnavailable>
    /** Deletes every follow of the account except `kept`, with its fills. For copies of a discarded chain. */
    forgetOthers(accountId: string, kept: ReadonlyArray<string>): Effect.Effect<void, FollowStoreUnavailable>
    /** The account's follow of that id; null when it has none. */
    find(accountId: string, id: string): Effect.Effect<Follow | null, FollowStoreUnavailable>
    /** One page of follows, newest first. */
    follows(selection: FollowSelection): Effect.Effect<CopySlice<Follow>, FollowStoreUnavailable>
    /** One page of fills, by the leader's trade, newest first. */
    fills(selection: FillSelection): Effect.Effect<CopySlice<CopyFill>, FollowStoreUnavailable>
    /** Progress of every follow of the account. */
    progress(accountId: string): Effect.Effect<ReadonlyArray<FollowProgress>, FollowStoreUnavailable>
    /** Filled copies in recording order, which may differ from execution order. */
    inTurn(selection: TurnSelection): Effect.Effect<ReadonlyArray<FilledCopy>, FollowStoreUnavailable>
  }
>()("fathom/copying/FollowStore") {
  /** Follows held in memory. */
  static readonly layerMemory: Layer.Layer<FollowStore> = Layer.effect(
    FollowStore,
    Effect.sync(() => FollowStore.of(makeMemoryFollows()))
  )
}
