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

/** How many copies of a follow were filled. What was counted does not change, and what is new is counted after it. */
export interface FollowProgress {
  readonly followId: string
  /** Another when the follow was forgotten and told again: then nothing that was counted before holds. */
  readonly generation: string
  readonly filled: number
}

/** The filled copies of a follow from the `after + 1`th that was recorded up to the `through`th. */
export interface TurnSelection {
  readonly accountId: string
  readonly followId: string
  readonly after: number
  readonly through: number
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
    /** How far every follow of the account has come. */
    progress(accountId: string): Effect.Effect<ReadonlyArray<FollowProgress>, FollowStoreUnavailable>
    /** Filled copies by the turn in which they were recorded, which need not be the order in which they happened. */
    inTurn(selection: TurnSelection): Effect.Effect<ReadonlyArray<FilledCopy>, FollowStoreUnavailable>
  }
>()("fathom/copying/FollowStore") {
  /** Follows held in memory, for tests and for those who embed us. */
  static readonly layerMemory: Layer.Layer<FollowStore> = Layer.effect(
    FollowStore,
    Effect.sync(() => FollowStore.of(makeMemoryFollows()))
  )
}
