import { Context, Effect, Layer } from "effect"
import type {
  AttributedTrade,
  Callout,
  CalloutSelection,
  CalloutSlice,
  CalloutStoreUnavailable,
  NewCallout
} from "../domain/wallets/Callout.ts"
import { makeMemoryCallouts } from "./memoryCallouts.ts"

/** Users' calls of tokens, with attributed clicks and trades. Only active ones can be read: neither expired nor removed. */
export class CalloutStore extends Context.Service<
  CalloutStore,
  {
    /** Keeps a callout. False, and nothing happens, when its id is taken. One that breaks the rules of its type is a defect. */
    post(callout: NewCallout): Effect.Effect<boolean, CalloutStoreUnavailable>
    /** Removes a callout for good. False when there is none. */
    remove(id: string): Effect.Effect<boolean, CalloutStoreUnavailable>
    /** The active callout of that id; null when there is none. */
    find(id: string): Effect.Effect<Callout | null, CalloutStoreUnavailable>
    /**
     * One page of active callouts. Following `next` to the end gives each callout that was there at the first page once,
     * in the order of that moment, whatever is posted or traded meanwhile; what expires or is removed drops out.
     */
    page(selection: CalloutSelection): Effect.Effect<CalloutSlice, CalloutStoreUnavailable>
    /** Counts a visit, or so many; of a callout that is not active, none. */
    recordClick(id: string, clicks?: number): Effect.Effect<void, CalloutStoreUnavailable>
    /**
     * Adds a settled trade to its callout, expired or not. False, and nothing is added, when the trade was counted before,
     * for this callout or another, or when the callout is unknown or removed.
     */
    attribute(trade: AttributedTrade): Effect.Effect<boolean, CalloutStoreUnavailable>
  }
>()("fathom/callouts/CalloutStore") {
  /** Callouts held in memory, for tests and for embedding applications. */
  static readonly layerMemory: Layer.Layer<CalloutStore> = Layer.effect(
    CalloutStore,
    Effect.sync(() => CalloutStore.of(makeMemoryCallouts()))
  )
}
