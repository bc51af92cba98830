import { Context, type Effect } from "effect"
import type {
  AttributedTrade,
  Callout,
  CalloutSelection,
  CalloutSlice,
  CalloutStoreUnavailable,
  NewCallout
} from "../api/schemas/Callout.ts"

/**
 * Users' calls of tokens, with attributed clicks and trades. Only active callouts can be read: neither expired nor
 * removed.
 */
export class CalloutStore extends Context.Service<
  CalloutStore,
  {
    /**
     * Stores a callout. False, without effect, when its id is taken. A callout that breaks the rules of its type is a
     * defect.
     */
    post(callout: NewCallout): Effect.Effect<boolean, CalloutStoreUnavailable>
    /** Removes a callout for good. False when there is none. */
    remove(id: string): Effect.Effect<boolean, CalloutStoreUnavailable>
    /** The active callout with this id; null when there is none. */
    find(id: string): Effect.Effect<Callout | null, CalloutStoreUnavailable>
    /**
     * One page of active callouts. Following `next` to the end gives each callout that was there at the first page
     * once, in the order of that moment, whatever is posted or traded meanwhile. Callouts that expire or are removed
     * drop out.
     */
    page(selection: CalloutSelection): Effect.Effect<CalloutSlice, CalloutStoreUnavailable>
    /** Counts one visit, or `clicks` visits. A callout that is not active counts none. */
    recordClick(id: string, clicks?: number): Effect.Effect<void, CalloutStoreUnavailable>
    /**
     * Adds a settled trade to its callout, expired or not. False, without effect, when the trade was counted before,
     * for this callout or another, or when the callout is unknown or removed.
     */
    attribute(trade: AttributedTrade): Effect.Effect<boolean, CalloutStoreUnavailable>
  }
>()("fathom/callouts/CalloutStore") {}
