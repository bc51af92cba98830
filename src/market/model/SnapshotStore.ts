import { Context, type Effect } from "effect"
import type { TradeStoreUnavailable } from "../../api/schemas/Trade.ts"
import type { SnapshotContent, StoredSnapshot } from "./StoredSnapshot.ts"

/** The newest snapshot of the memory of the open chain. */
export class SnapshotStore extends Context.Service<
  SnapshotStore,
  {
    /** The newest snapshot, whatever its layout and repairs; null when there is none. */
    readonly newest: Effect.Effect<StoredSnapshot | null, TradeStoreUnavailable>
    /** A part of a snapshot as it was stored; null once another snapshot has replaced it. */
    part(id: string, number: number): Effect.Effect<Uint8Array | null, TradeStoreUnavailable>
    /**
     * Replaces the snapshot, all or nothing; durable when it returns. Returns null and replaces nothing when a repair has
     * changed trades since the state was taken, or when blocks of the state are not stored. For the writer.
     */
    keep(content: SnapshotContent): Effect.Effect<StoredSnapshot | null, TradeStoreUnavailable>
  }
>()("fathom/market/model/SnapshotStore") {}
