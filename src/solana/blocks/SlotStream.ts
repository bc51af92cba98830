import type { Effect, Option } from "effect"
import type { ChainUnavailable } from "../accounts/ChainFeed.ts"

/** Blocks that a provider streams. What it does not have, or not in time, is read from a node. */
export interface SlotStream<Message> {
  /** Begins to stream after this slot, or with the newest one when it is null. */
  readonly begin: (after: number | null) => Effect.Effect<void>
  /** The newest confirmed slot; waits a moment for a newer one. That of the node while the stream is silent. */
  readonly newest: (node: Effect.Effect<number, ChainUnavailable>) => Effect.Effect<number, ChainUnavailable>
  /** Slots that may have a block, from this one on, at most `limit`; none where the stream does not have them. */
  readonly list: (from: number, limit: number) => Option.Option<ReadonlyArray<number>>
  /** The block of a slot, which leaves the stream's buffer; none when a node must be asked. Fails for a skipped slot. */
  readonly read: (slot: number) => Effect.Effect<Option.Option<Message>, ChainUnavailable>
  /** Compares the stream with the newest slot of a node, and leaves an endpoint that falls behind. */
  readonly compare: (slot: number) => Effect.Effect<void>
  /** Host of the endpoint; null while none is heard. */
  readonly host: () => string | null
}
