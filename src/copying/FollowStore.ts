import { Context, Effect, Layer } from "effect"
import type {
  CopyFill,
  CopySlice,
  FilledCopy,
  FillSelection,
  Follow,
  FollowSelection,
  FollowStoreUnavailable,
  NewFollow,
  PositionKey
} from "../domain/Copying.ts"
import { makeMemoryFollows } from "./memoryFollows.ts"

/** Which filled copies of an account are wanted: all, those of one follow, or those of some positions. */
export interface HistorySelection {
  readonly accountId: string
  readonly of: "all" | { readonly followId: string } | { readonly positions: ReadonlyArray<PositionKey> }
}

/** Who follows whom, and what was copied. What is written here is told by the application that copies; no call of the API writes. */
export class FollowStore extends Context.Service<
  FollowStore,
  {
    /**
     * Keeps a follow as it is told. False, and nothing happens, unless it is new or told with a later `updatedAtMs` than
     * before; also when another account has the id. One that breaks the rules of its type is a defect.
     */
    recordFollow(follow: NewFollow): Effect.Effect<boolean, FollowStoreUnavailable>
    /**
     * Keeps a fill. False, and nothing happens, when it was told before: only a pending one can change, once, to what
     * became of it. False too when its follow is unknown.
     */
    recordFill(fill: CopyFill): Effect.Effect<boolean, FollowStoreUnavailable>
    /** Forgets every follow of the account but these, with its fills: for copies on a chain that is gone. */
    forgetOthers(accountId: string, kept: ReadonlyArray<string>): Effect.Effect<void, FollowStoreUnavailable>
    /** The account's follow of that id; null when it has none. */
    find(accountId: string, id: string): Effect.Effect<Follow | null, FollowStoreUnavailable>
    /** One page of follows, those made last first. */
    follows(selection: FollowSelection): Effect.Effect<CopySlice<Follow>, FollowStoreUnavailable>
    /** One page of fills, those of the leaders' newest trades first. */
    fills(selection: FillSelection): Effect.Effect<CopySlice<CopyFill>, FollowStoreUnavailable>
    /** Filled copies in the order in which they happened: by slot, then by the slot of the leader's trade, then by id. */
    history(selection: HistorySelection): Effect.Effect<ReadonlyArray<FilledCopy>, FollowStoreUnavailable>
  }
>()("fathom/copying/FollowStore") {
  /** Follows held in memory, for tests and for those who embed us. */
  static readonly layerMemory: Layer.Layer<FollowStore> = Layer.effect(
    FollowStore,
    Effect.sync(() => FollowStore.of(makeMemoryFollows()))
  )
}
