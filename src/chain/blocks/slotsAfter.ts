/** Which slots to request: one by one near the head of the chain; far behind it, only slots that have a block. */
import { type Duration, Effect, Stream } from "effect"
import type { BlockGap, GapReason } from "./BlockFeed.ts"
import type { ChainUnavailable } from "../ChainUnavailable.ts"

/** The reads of a node. */
export interface SlotSource {
  /** The newest slot that may have a block. Waits for a node that is down. */
  readonly newest: Effect.Effect<number>
  /** The first slots from this one on that have a block, lowest first, at most `limit`. */
  readonly list: (from: number, limit: number) => Effect.Effect<ReadonlyArray<number>, ChainUnavailable>
  /** The oldest slot whose block the node still has. */
  readonly firstAvailable: Effect.Effect<number, ChainUnavailable>
}

/** The range and the pace of reading. */
export interface SlotSettings {
  /** The most slots to catch up with. Older slots become a gap. */
  readonly catchUp: number
  /** The pause between two reads of the newest slot. */
  readonly poll: Duration.Duration
}

/** A slot to request, or a range of slots that are not requested. */
export type SlotRequest = number | ({ readonly _tag: "Gap" } & BlockGap)

/** This near to the head, reading slot by slot is no slower than listing first. */
const FAR = 8
/** The most slots that one list returns. */
const LISTED = 256
/** How many slots are read one by one after an empty or failed list. */
const UNLISTED = 64

interface Position {
  /** The first slot without a result; null at the beginning. */
  readonly next: number | null
  readonly head: number
  /** Slots with a block, from `next` on. All slots between them were skipped. */
  readonly listed: ReadonlyArray<number>
  /** Before this slot no list is requested. */
  readonly singlyUntil: number
}

type SlotStep = readonly [SlotRequest, Position]

export const gap = (from: number, to: number, reason: GapReason) => ({ _tag: "Gap" as const, from, to, reason })

const stepTo = (place: Position, slot: number): SlotStep => [
  slot,
  { ...place, next: slot + 1, listed: place.listed.filter((listed) => listed > slot) }
]

/** Waits until the next slot exists. */
const reach = Effect.fnUntraced(function* (source: SlotSource, { poll }: SlotSettings, place: Position) {
  const wanted = place.next ?? 0
  let { head } = place
  while (head < wanted) {
    // Nodes behind one address may differ in their newest slot.
    head = Math.max(head, yield* source.newest)
    if (head < wanted) {
      yield* Effect.sleep(poll)
    }
  }
  return head
})

/** The next step by a list of slots with a block. Slot by slot when there is no list. */
const stepByList = Effect.fnUntraced(function* (
  source: SlotSource,
  place: Position,
  next: number
): Effect.fn.Return<SlotStep> {
  const listed = yield* Effect.orElseSucceed(source.list(next, LISTED), (): ReadonlyArray<number> => [])
  const [first] = listed
  if (first === undefined) {
    return stepTo({ ...place, singlyUntil: next + UNLISTED }, next)
  }
  const found = { ...place, listed }
  // Slots before the first listed one were skipped or cleaned up.
  const available = first === next ? next : yield* Effect.orElseSucceed(source.firstAvailable, () => next)
  const kept = Math.min(available, first)
  return kept > next ? [gap(next, kept - 1, "cleaned_up"), { ...found, next: kept }] : stepTo(found, first)
})

/** The slots to request, in order, as they appear, with a gap for slots that are too far behind or cleaned up. */
export const slotsAfter = (
  source: SlotSource,
  settings: SlotSettings,
  after: number | null
): Stream.Stream<SlotRequest> =>
  Stream.unfold(
    { next: after === null ? null : after + 1, head: -1, listed: [], singlyUntil: 0 },
    Effect.fnUntraced(function* (before: Position): Effect.fn.Return<SlotStep> {
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
