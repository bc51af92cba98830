/** Turns slots into blocks in order: reads, retries, and leaves gaps for slots that stay empty. */
import { Clock, Duration, Effect, Schedule, Stream } from "effect"
import type { BlockEvent, BlockGap, BlockHead, SlotContent } from "./BlockFeed.ts"
import type { Freshness } from "../ChainFeed.ts"
import type { ChainUnavailable } from "../ChainUnavailable.ts"
import { chainState, STALE_BLOCK_MS } from "../sourceFreshness.ts"
import type { SourceState } from "../../operations/SourceMonitor.ts"
import type { SlotRange } from "./SlotStream.ts"
import { SLOT_MS } from "./blockTime.ts"
import { gap, slotsAfter, type SlotSettings, type SlotSource } from "./slotsAfter.ts"

export interface BlockSettings extends SlotSettings {
  /** Concurrent block reads. */
  readonly concurrency: number
  /** How often a block is tried, while the node answers other calls, before it becomes a gap. */
  readonly tries: number
}

/** What `followBlocks` reads from a node. */
export interface BlockSource<Block extends BlockHead> extends Omit<SlotSource, "newest"> {
  /** The newest slot that may have a block. */
  readonly newest: Effect.Effect<number, ChainUnavailable>
  readonly read: (slot: number) => Effect.Effect<Block, ChainUnavailable>
  /** Slots that were read, but whose blocks are of another fork; null when there are none. Returns each range once. */
  readonly forked?: (() => SlotRange | null) | undefined
}

/** The progress of following. Freshness derives from it. */
export class BlockProgress {
  #slot = 0
  #head = 0
  #heardAtMs: number | null = null
  #observedAtMs: number | null = null
  /** When the first block was emitted, and its age then. */
  #first: { readonly atMs: number; readonly lagMs: number } | null = null
  #down = true

  freshness(): Freshness {
    const state = this.#down ? "down" : this.#slot > 0 && this.#slot >= this.#head - LIVE_SLOTS ? "live" : "loading"
    return { slot: this.#slot, heardAtMs: this.#heardAtMs, state }
  }

  /**
   * The newest block as a source. Its age counts from the block's own time, because a slow reader works on old blocks
   * all the time.
   */
  source(nowMs: number): SourceState {
    const { status } = chainState(this.freshness())
    const isOld = this.#observedAtMs !== null && nowMs - this.#observedAtMs > STALE_BLOCK_MS
    return {
      observedAtMs: this.#observedAtMs,
      status: isOld ? "stale" : status,
      ...(isOld && !this.#down && { reason: "backfill_running" as const, ...this.#catchingUp(nowMs) }),
      ...(this.#slot > 0 && { slot: this.#slot }),
      ...(this.#head > 0 && { head: this.#head })
    }
  }

  /** The part of the way to the newest block that is done, and the time that the rest takes at the pace so far. */
  #catchingUp(nowMs: number): Pick<SourceState, "share" | "leftMs"> {
    if (this.#first === null || this.#observedAtMs === null) {
      return {}
    }
    const lagMs = nowMs - this.#observedAtMs
    const doneMs = Math.max(0, this.#first.lagMs - lagMs)
    const spentMs = nowMs - this.#first.atMs
    return {
      share: doneMs / (doneMs + lagMs),
      ...(doneMs > 0 && { leftMs: Math.round((lagMs * spentMs) / doneMs) })
    }
  }

  /** The newest slot that a node has reported. */
  get head(): number {
    return this.#head
  }

  /** Begins another chain. */
  startAnew(): void {
    this.#slot = 0
    this.#head = 0
    this.#heardAtMs = null
    this.#observedAtMs = null
    this.#first = null
  }

  /** Notes the newest slot that the node reported. */
  reach(head: number): void {
    this.#head = Math.max(this.#head, head)
    this.#down = false
  }

  /** Notes that the node did not answer. */
  lose(): void {
    this.#down = true
  }

  /** Notes an emitted block. A block without a time gets an estimate: 0.4 s for each slot behind the newest. */
  emit({ blockTimeMs, slot }: BlockHead, nowMs: number): void {
    this.#slot = Math.max(this.#slot, slot)
    this.#heardAtMs = nowMs
    this.#observedAtMs = blockTimeMs ?? nowMs - Math.max(0, this.#head - slot) * SLOT_MS
    this.#first ??= { atMs: nowMs, lagMs: nowMs - this.#observedAtMs }
  }
}

// Blocks of the newest slots are still on their way.
const LIVE_SLOTS = 8

/** Error code of a slot without a block. */
export const SLOT_SKIPPED = -32007
const SKIPPED: ReadonlySet<number> = new Set([SLOT_SKIPPED, -32009])
const CLEANED_UP = -32001

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5_000

const pauseMs = (failures: number, { retryAfterMs = 0 }: ChainUnavailable): number =>
  Math.max(retryAfterMs, Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures, 10)))

const pauses = Schedule.forever.pipe(
  Schedule.setInputType<ChainUnavailable>(),
  Schedule.modifyDelay(({ attempt, input }) => Effect.succeed(Duration.millis(pauseMs(attempt - 1, input))))
)

/** The newest slot, as soon as the node reports one. */
const newestSlot = (
  { newest }: Pick<BlockSource<BlockHead>, "newest">,
  progress: BlockProgress
): Effect.Effect<number> =>
  newest.pipe(
    Effect.tapError(() => Effect.sync(() => progress.lose())),
    Effect.retry(pauses),
    // The schedule never ends, so this cannot happen.
    Effect.orDie,
    Effect.tap((head) => Effect.sync(() => progress.reach(head)))
  )

/** The content of a slot whose read failed. */
export const withoutBlock = (slot: number, { reason, rpcCode }: ChainUnavailable) => {
  if (rpcCode !== undefined && SKIPPED.has(rpcCode)) {
    return { _tag: "Skipped" as const, slot }
  }
  return gap(slot, slot, rpcCode === CLEANED_UP ? "cleaned_up" : reason === "invalid" ? "unreadable" : "unavailable")
}

/** Reads the content of a slot. Waits for a node that is down, but not for a node that answers every other call. */
const contentOf = Effect.fnUntraced(function* <Block extends BlockHead>(
  source: BlockSource<Block>,
  progress: BlockProgress,
  { tries }: BlockSettings,
  slot: number
): Effect.fn.Return<SlotContent<Block>> {
  for (let failures = 0; ; failures++) {
    const read = yield* Effect.result(source.read(slot))
    if (read._tag === "Success") {
      return { _tag: "Block", block: read.success }
    }
    const content = withoutBlock(slot, read.failure)
    if (content._tag === "Skipped" || content.reason === "cleaned_up" || failures + 1 >= tries) {
      return content
    }
    yield* Effect.sleep(Duration.millis(pauseMs(failures, read.failure)))
    // Attempts are not counted while the node is unreachable.
    yield* newestSlot(source, progress)
  }
})

/** The newest emitted block, and the slots missing since. */
interface EmittedState {
  readonly last: number | null
  readonly missing: BlockGap | null
}

const extend = (missing: BlockGap | null, found: BlockGap): BlockGap | null =>
  missing !== null && missing.reason === found.reason
    ? { ...missing, from: Math.min(missing.from, found.from), to: Math.max(missing.to, found.to) }
    : null

const gapEvent = (missing: BlockGap): BlockEvent<never> => ({ _tag: "Gap", ...missing })

/** Slots that the node reported as skipped, although the block was built on one of them. */
const missingBefore = ({ last, missing }: EmittedState, { parentSlot }: BlockHead): BlockGap | null => {
  const known = Math.max(last ?? parentSlot, missing?.to ?? 0)
  return parentSlot > known ? { from: known + 1, to: parentSlot, reason: "missing" } : null
}

/** The events for the content of a slot. Adjacent gaps with the same reason become one gap. */
export const eventsOf = <Block extends BlockHead>(
  state: EmittedState,
  content: SlotContent<Block>
): readonly [EmittedState, ReadonlyArray<BlockEvent<Block>>] => {
  switch (content._tag) {
    case "Skipped":
      return [state, []]
    case "Gap": {
      const { from, to, reason } = content
      const extended = extend(state.missing, { from, to, reason })
      return extended === null
        ? [{ ...state, missing: { from, to, reason } }, state.missing === null ? [] : [gapEvent(state.missing)]]
        : [{ ...state, missing: extended }, []]
    }
    case "Block": {
      const { block } = content
      if (state.last !== null && block.slot <= state.last) {
        return [state, []]
      }
      const gaps = [state.missing, missingBefore(state, block)].filter((missing) => missing !== null)
      return [{ last: block.slot, missing: null }, [...gaps.map(gapEvent), { _tag: "Block", block }]]
    }
  }
}

/**
 * Puts a gap before the next content once blocks turn out to be of another fork. Blocks of the fork that were read but
 * not emitted yet are left out.
 */
const markForks = <Block extends BlockHead>(forked: () => SlotRange | null) => {
  let until = -1
  return (content: SlotContent<Block>): ReadonlyArray<SlotContent<Block>> => {
    const found = forked()
    until = Math.max(until, found?.to ?? until)
    const slot = content._tag === "Block" ? content.block.slot : null
    const kept = slot !== null && slot <= until ? gap(slot, slot, "forked") : content
    return found === null ? [kept] : [gap(found.from, found.to, "forked"), kept]
  }
}

/** Drops the gaps before the first block of a feed that starts over. */
const fromFirstBlock = <Block extends BlockHead>(
  hasBegun: boolean,
  event: BlockEvent<Block>
): readonly [boolean, ReadonlyArray<BlockEvent<Block>>] =>
  hasBegun || event._tag === "Block" ? [true, [event]] : [false, []]

/** Every block after the slot, and gaps. See `BlockFeed.follow`. */
export const followBlocks = <Block extends BlockHead>(
  source: BlockSource<Block>,
  progress: BlockProgress,
  settings: BlockSettings,
  after: number | null
): Stream.Stream<BlockEvent<Block>> =>
  slotsAfter({ ...source, newest: newestSlot(source, progress) }, settings, after).pipe(
    Stream.mapEffect(
      (requested) =>
        typeof requested === "number"
          ? contentOf(source, progress, settings, requested)
          : Effect.succeed<SlotContent<Block>>(requested),
      { concurrency: settings.concurrency }
    ),
    Stream.mapAccum(
      () => markForks<Block>(source.forked ?? (() => null)),
      (mark, content: SlotContent<Block>) => [mark, mark(content)] as const
    ),
    Stream.mapAccum((): EmittedState => ({ last: after === 0 ? null : after, missing: null }), eventsOf),
    Stream.mapAccum(() => after !== 0, fromFirstBlock),
    Stream.tap((event) =>
      event._tag === "Block"
        ? Effect.map(Clock.currentTimeMillis, (nowMs) => progress.emit(event.block, nowMs))
        : Effect.logWarning("Blocks are missing", { from: event.from, to: event.to, reason: event.reason })
    )
  )
