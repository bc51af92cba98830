/** Blocks of one reader of the chain for every process of a service, in order, each once. */
import { Clock, Context, Duration, Effect, Layer, Option, Schema, Stream } from "effect"

/** A later block than the one given is on the bus: another process has appended. */
export class AppendRefused extends Schema.TaggedError<AppendRefused>()("AppendRefused", {
  /** Slot of the newest block on the bus. */
  newest: Schema.Int
}) {}

/** The bus cannot be reached. A block that was being appended may be on it all the same. */
export class BusUnavailable extends Schema.TaggedError<BusUnavailable>()("BusUnavailable", {
  cause: Schema.Defect()
}) {}

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
    Layer.sync(BlockBus, () => makeMemory(Duration.toMillis(kept)))
}

/** A kept block. */
export interface KeptBlock extends BusBlock {
  readonly atMs: number
}

/** Marks the blocks, oldest first, that follow others which a reader at this slot does not have. */
export const entriesFrom = (
  position: number,
  blocks: ReadonlyArray<BusBlock>
): readonly [position: number, entries: ReadonlyArray<BusEntry>] => {
  let last = position
  const entries = blocks.map(({ after, bytes, slot }) => {
    const isAfterGap = last > 0 && after > last
    last = slot
    return { slot, bytes, isAfterGap }
  })
  return [last, entries]
}

const makeMemory = (keptMs: number): BlockBus["Service"] => {
  const chains = new Map<string, ReadonlyArray<KeptBlock>>()
  const waiting = new Set<() => void>()
  const heard: { atMs: number | null } = { atMs: null }
  const blocksOf = (chain: string) => chains.get(chain) ?? []

  const next = (chain: string, after: number): Effect.Effect<ReadonlyArray<KeptBlock>> =>
    Effect.suspend(() => {
      const found = blocksOf(chain).filter(({ slot }) => slot > after)
      return found.length > 0 ? Effect.succeed(found) : Effect.andThen(arrival, next(chain, after))
    })
  const arrival = Effect.callback<void>((resume) => {
    const wake = () => resume(Effect.void)
    waiting.add(wake)
    return Effect.sync(() => waiting.delete(wake))
  })

  return BlockBus.of({
    newest: (chain) => Effect.sync(() => blocksOf(chain).at(-1)?.slot ?? null),
    append: Effect.fnUntraced(function* (chain: string, block: BusBlock) {
      const atMs = yield* Clock.currentTimeMillis
      heard.atMs = atMs
      const blocks = blocksOf(chain)
      const newest = blocks.at(-1)?.slot ?? 0
      if (newest > block.after) {
        return yield* new AppendRefused({ newest })
      }
      chains.set(chain, [...blocks.filter((kept) => kept.atMs >= atMs - keptMs), { ...block, atMs }])
      const woken = Array.from(waiting)
      waiting.clear()
      woken.forEach((wake) => wake())
    }),
    follow: (chain, after) =>
      Stream.paginate(after, (position) =>
        Effect.map(next(chain, position), (blocks) => {
          const [last, entries] = entriesFrom(position, blocks)
          return [entries, Option.some(last)] as const
        })
      ),
    heardAtMs: () => heard.atMs
  })
}
