import type { Effect, Option } from "effect"
import type { ChainUnavailable } from "../ChainUnavailable.ts"

/** Slots from the first to the last, both included. */
export interface SlotRange {
  readonly from: number
  readonly to: number
}

/** The blockhash of a slot, by a node. */
export type HashOf = (slot: number) => Effect.Effect<string, ChainUnavailable>

/** Blocks that a provider streams. A block that it does not have, or not in time, is read from a node. */
export interface SlotStream<Message> {
  /** Begins to stream after this slot, or with the newest slot when it is null. */
  readonly begin: (after: number | null) => Effect.Effect<void>
  /** The newest confirmed slot. Waits a moment for a newer one. Asks the node while the stream is silent. */
  readonly newest: (node: Effect.Effect<number, ChainUnavailable>) => Effect.Effect<number, ChainUnavailable>
  /** Slots from this one on that may have a block, at most `limit`; none when the stream does not have them. */
  readonly list: (from: number, limit: number) => Option.Option<ReadonlyArray<number>>
  /** Takes the block of a slot. None when a node must be asked. Fails for a skipped slot. */
  readonly read: (slot: number) => Effect.Effect<Option.Option<Message>, ChainUnavailable>
  /** Compares the stream with the newest slot of a node, and leaves an endpoint that falls behind. */
  readonly compare: (slot: number) => Effect.Effect<void>
  /** Asks a node whenever raced endpoints have different blocks, and sets the wrong ones aside. Never ends. */
  readonly disputed: (hashOf: HashOf) => Effect.Effect<never>
  /**
   * Slots whose blocks were given, although they are of another fork than the node's; null when there are none. Each
   * range is returned once.
   */
  readonly forked: () => SlotRange | null
  /** Host of the endpoint; null while nothing arrives from it. */
  readonly host: () => string | null
}
