/** Reads missing blocks again, newest first: from each block to its parent. */
import { Effect } from "effect"
import { type BlockPlace, type Gaps, gapBetween, type MissingBlocks } from "../model/Gaps.ts"
import type { TradeBatch } from "../model/TradeBatch.ts"
import type { ReadAgain, TradeFeed } from "./TradeFeed.ts"

/** Which blocks to read: before `above`, which is stored, down to `fromSlot` and to `fromMs`. */
export interface ReadBackRequest {
  readonly above: BlockPlace
  readonly fromSlot: number
  /** Older blocks are not wanted. Milliseconds since the Unix epoch. */
  readonly fromMs: number
  /** Blocks to read at most. */
  readonly most: number
}

/**
 * How it ended. `done`: every block was read. `more`: the limit was reached. `gone`: the node no longer has the rest.
 * `failed`: the rest cannot be read now.
 */
export interface ReadBack {
  /** Oldest first. */
  readonly blocks: ReadonlyArray<TradeBatch>
  /** Gaps between these blocks, which cannot be read now. */
  readonly holes: Gaps
  readonly end: "done" | "more" | "gone" | "failed"
  /** Requests made. */
  readonly reads: number
}

const CONCURRENCY = 2

/** The content of slots; each slot is read once. */
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

/** The nearest lower slot whose block was read; null when there is none. */
const readableBelow = (known: ReadonlyMap<number, ReadAgain>, slot: number): number | null =>
  Array.from(known).reduce<number | null>(
    (best, [each, { _tag }]) => (_tag === "Block" && each < slot && each > (best ?? -1) ? each : best),
    null
  )

/** Reads one stretch. Each block is proven by its child, so a skipped slot is never taken for a lost block. */
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
