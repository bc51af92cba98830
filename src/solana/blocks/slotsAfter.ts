/** Which slots to ask for: one after the other near the head of the chain, and only those that have a block far behind it. */
import { type Duration, Effect, Stream } from "effect"
import type { BlockGap, GapReason } from "./BlockFeed.ts"
import type { ChainUnavailable } from "../accounts/ChainFeed.ts"

/** What is asked of a node. */
export interface SlotSource {
  /** The newest slot that may have a block; waits for a node that is down. */
  readonly newest: Effect.Effect<number>
  /** The first slots from this one on that have a block, lowest first, at most so many. */
  readonly list: (from: number, limit: number) => Effect.Effect<ReadonlyArray<number>, ChainUnavailable>
  /** The oldest slot whose block the node still has. */
  readonly firstAvailable: Effect.Effect<number, ChainUnavailable>
}

/** How far and how often. */
export interface SlotSettings {
  /** Slots that are caught up with; older ones become a gap. */
  readonly catchUp: number
  /** Between two questions for the newest slot. */
  readonly poll: Duration.Duration
}

/** A slot to ask for, or slots that are not worth asking for. */
export type Asked = number | ({ readonly _tag: "Gap" } & BlockGap)

/** Nearer to the head than this, asking slot by slot is no slower than asking for a list first. */
const FAR = 8
/** Slots of one list. */
const LISTED = 256
/** Slots that are asked for one by one after a list that did not help. */
const UNLISTED = 64

interface Place {
  /** The first slot that nothing has been said of; null before the beginning. */
  readonly next: number | null
  readonly head: number
  /** Slots with a block, from `next` on. All between them were skipped. */
  readonly listed: ReadonlyArray<number>
  /** No list is asked for before this slot. */
  readonly singlyUntil: number
}

type Step = readonly [Asked, Place]

/** Slots of which nothing will be told. */
export const gap = (from: number, to: number, reason: GapReason) => ({ _tag: "Gap" as const, from, to, reason })

const stepTo = (place: Place, slot: number): Step => [
  slot,
  { ...place, next: slot + 1, listed: place.listed.filter((listed) => listed > slot) }
]

/** Waits until there is a slot to ask for. */
const reach = Effect.fnUntraced(function* (source: SlotSource, { poll }: SlotSettings, place: Place) {
  const wanted = place.next ?? 0
  let { head } = place
  while (head < wanted) {
    // Another node behind the same address may be behind this one.
    head = Math.max(head, yield* source.newest)
    if (head < wanted) {
      yield* Effect.sleep(poll)
    }
  }
  return head
})

/** The step that a list of the next slots with a block allows; slot by slot where there is none. */
const stepByList = Effect.fnUntraced(function* (
  source: SlotSource,
  place: Place,
  next: number
): Effect.fn.Return<Step> {
  const listed = yield* Effect.orElseSucceed(source.list(next, LISTED), (): ReadonlyArray<number> => [])
  const [first] = listed
  if (first === undefined) {
    return stepTo({ ...place, singlyUntil: next + UNLISTED }, next)
  }
  const found = { ...place, listed }
  // Before the first of the list are slots that were skipped, or that the node has forgotten.
  const available = first === next ? next : yield* Effect.orElseSucceed(source.firstAvailable, () => next)
  const kept = Math.min(available, first)
  return kept > next ? [gap(next, kept - 1, "cleaned_up"), { ...found, next: kept }] : stepTo(found, first)
})

/** The slots to ask for, in order, as they come to be; a gap for those that are too far behind or gone. */
export const slotsAfter = (source: SlotSource, settings: SlotSettings, after: number | null): Stream.Stream<Asked> =>
  Stream.unfold(
    { next: after === null ? null : after + 1, head: -1, listed: [], singlyUntil: 0 },
    Effect.fnUntraced(function* (before: Place): Effect.fn.Return<Step> {
      const head = yield* reach(source, settings, before)
      const place = { ...before, head }
      const next = place.next ?? head
      const oldest = Math.max(0, head - settings.catchUp + 1)
      const [listed] = place.listed
      if (next < oldest) {
        return [gap(next, oldest - 1, "behind"), { ...place, next: oldest, listed: [] }]
      }
      if (listed !== undefined) {
        return stepTo(place, listed)
      }
      return head - next < FAR || next < place.singlyUntil
        ? stepTo(place, next)
        : yield* stepByList(source, place, next)
    })
  )
