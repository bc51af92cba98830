/** Reads missing blocks again, the newest first: from a block to the one that it was built on. */
import { Effect } from "effect"
import { type BlockPlace, type Gaps, gapBetween, type MissingBlocks } from "../tape/Gaps.ts"
import type { TradeBatch } from "../tape/TradeBatch.ts"
import type { ReadAgain, TradeFeed } from "../tape/TradeFeed.ts"

/** The blocks to read: those before `above`, which was read, down to `fromSlot` and to `fromMs`. */
export interface ReadBackRequest {
  readonly above: BlockPlace
  readonly fromSlot: number
  /** Blocks from before this time are not wanted, in milliseconds since the Unix epoch. */
  readonly fromMs: number
  /** Blocks at a time. */
  readonly most: number
}

/** The outcome: `done` when every block is there, `more` when there are others, `gone` when the node no longer has them. */
export interface ReadBack {
  /** Oldest first. */
  readonly blocks: ReadonlyArray<TradeBatch>
  /** Blocks between these that cannot be read now. */
  readonly holes: Gaps
  readonly end: "done" | "more" | "gone" | "failed"
  /** Requests made. */
  readonly reads: number
}

/** Blocks that are requested concurrently. */
const CONCURRENCY = 2

/** The content of the slots of one stretch, each read once. */
const makeReader = (feed: TradeFeed["Service"], elseMs: number) => {
  const known = new Map<number, ReadAgain>()
  const read = (slot: number) =>
    Effect.tap(feed.again(slot, elseMs), (content) => Effect.sync(() => known.set(slot, content)))
  return {
    known,
    of: (slot: number): Effect.Effect<ReadAgain> =>
      Effect.suspend(() => {
        const content = known.get(slot)
        return content === undefined ? read(slot) : Effect.succeed(content)
      }),
    all: (slots: ReadonlyArray<number>) => Effect.forEach(slots, read, { concurrency: CONCURRENCY, discard: true })
  }
}

/** The nearest slot below one whose block can be read, among those that were read; null when there is none. */
const readableBelow = (known: ReadonlyMap<number, ReadAgain>, slot: number): number | null =>
  Array.from(known).reduce<number | null>(
    (best, [each, { _tag }]) => (_tag === "Block" && each < slot && each > (best ?? -1) ? each : best),
    null
  )

/** Reads one stretch. Every block is proven by the one built on it, so that a skipped slot is never mistaken for a lost block. */
export const readBack = Effect.fnUntraced(function* (
  feed: TradeFeed["Service"],
  { above, fromMs, fromSlot, most }: ReadBackRequest
): Effect.fn.Return<ReadBack> {
  const reader = makeReader(feed, above.timeMs)
  const blocks: Array<TradeBatch> = []
  const holes: Array<MissingBlocks> = []
  const outcome = (end: ReadBack["end"]): ReadBack => ({
    blocks: blocks.toReversed(),
    holes: holes.toReversed(),
    end,
    reads: reader.known.size
  })
  const anchor = yield* reader.of(above.slot)
  if (anchor._tag === "Missing") {
    return outcome(anchor.reason === "cleaned_up" ? "gone" : "failed")
  }
  let [expected, last]: [number, BlockPlace] = [anchor.parentSlot, above]
  let isLost = false
  const start = Math.max(fromSlot, expected - most + 1)
  const listed = expected < fromSlot ? [] : yield* feed.list(start, most)
  yield* reader.all(listed.filter((slot) => slot >= start && slot <= expected))

  // The first block of a chain names itself as its parent.
  while (expected >= fromSlot && expected < last.slot && last.timeMs >= fromMs) {
    if (blocks.length >= most) {
      return outcome("more")
    }
    const content: ReadAgain = yield* reader.of(expected)
    if (content._tag === "Block") {
      const { batch, parentSlot } = content
      const hole = isLost ? gapBetween(batch, last) : null
      holes.push(...(hole === null ? [] : [hole]))
      blocks.push(batch)
      last = batch
      expected = parentSlot
      isLost = false
      continue
    }
    const next = content.reason === "cleaned_up" ? null : readableBelow(reader.known, expected)
    if (next === null) {
      return outcome(content.reason === "cleaned_up" ? "gone" : "failed")
    }
    expected = next
    isLost = true
  }
  return outcome("done")
})
