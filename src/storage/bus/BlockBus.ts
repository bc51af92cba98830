/** Blocks of one reader of the chain for every process of a service, in order, each once. */
import { Context, Duration, type Effect, Layer, Stream } from "effect"
import { type AppendRefused, type BusLog, type BusUnavailable, entriesAfter, makeMemoryLog } from "./busLog.ts"

/** A block to append. */
export interface BusBlock {
  /** Slot of the block before it in the chain; 0 before the first. */
  readonly after: number
  readonly slot: number
  readonly bytes: Uint8Array
}

/** A block as a reader of the bus has it. */
export interface BusEntry {
  readonly slot: number
  readonly bytes: Uint8Array
  /** True when blocks between this one and the last that the reader has are not on the bus any more. */
  readonly isAfterGap: boolean
}

/** Time for which blocks stay on the bus. */
export const BLOCKS_KEPT = Duration.hours(1)

/** Blocks of chains, which are named by their genesis hashes. They stay for an hour. */
export class BlockBus extends Context.Service<
  BlockBus,
  {
    /** Slot of the newest block; null when there is none. */
    newest(chain: string): Effect.Effect<number | null, BusUnavailable>
    /**
     * Appends a block, and is refused unless the newest block is `after`, so that two writers never interleave and no block
     * is there twice. A bus whose newest block is older, or that has none, has lost blocks: it takes the block, and readers
     * have a gap before it.
     */
    append(chain: string, block: BusBlock): Effect.Effect<void, AppendRefused | BusUnavailable>
    /**
     * Blocks after this slot, those that are there and then each new one; with 0 from the oldest on. Never fails and never
     * ends: it waits while the bus cannot be reached.
     */
    follow(chain: string, after: number): Stream.Stream<BusEntry>
    /** Local time of the last answer of the bus, in milliseconds since the Unix epoch; null before the first. */
    readonly heardAtMs: () => number | null
  }
>()("fathom/storage/bus/BlockBus") {
  /** Blocks of this process. */
  static readonly layerMemory = (kept: Duration.Duration = BLOCKS_KEPT): Layer.Layer<BlockBus> =>
    Layer.sync(BlockBus, () => makeBlockBus(makeMemoryLog({ keptMs: Duration.toMillis(kept) })))
}

/** The bus over a log whose places are slots. */
export const makeBlockBus = (log: BusLog): BlockBus["Service"] =>
  BlockBus.of({
    newest: log.newest,
    append: (chain, { after, bytes, slot }) => log.append(chain, { after, place: slot, bytes }),
    follow: (chain, after) =>
      Stream.map(entriesAfter(log, chain, after), ({ bytes, isAfterGap, place }) => ({
        slot: place,
        bytes,
        isAfterGap
      })),
    heardAtMs: log.heardAtMs
  })
