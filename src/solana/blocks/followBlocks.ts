/** From slots to blocks in order: what to ask for, when to ask again, and what to say of slots that stay empty. */
import { Clock, Duration, Effect, Stream } from "effect"
import type { BlockEvent, BlockGap, BlockHead, SlotContent } from "./BlockFeed.ts"
import type { ChainUnavailable, Freshness } from "../accounts/ChainFeed.ts"
import { gap, slotsAfter, type SlotSettings, type SlotSource } from "./slotsAfter.ts"

/** How blocks are followed. */
export interface BlockSettings extends SlotSettings {
  /** Blocks asked for at a time. */
  readonly concurrency: number
  /** How often a block is asked for in vain, while the node answers other questions, before it is given up. */
  readonly tries: number
}

/** What following needs of a node. */
export interface BlockSource<Block extends BlockHead> extends Omit<SlotSource, "newest"> {
  /** The newest slot that may have a block. */
  readonly newest: Effect.Effect<number, ChainUnavailable>
  readonly read: (slot: number) => Effect.Effect<Block, ChainUnavailable>
}

/** How well blocks are known, as far as following has come. */
export class BlockProgress {
  #slot = 0
  #head = 0
  #heardAtMs: number | null = null
  #down = true

  freshness(): Freshness {
    const state = this.#down ? "down" : this.#slot > 0 && this.#slot >= this.#head - LIVE_SLOTS ? "live" : "loading"
    return { slot: this.#slot, heardAtMs: this.#heardAtMs, state }
  }

  /** The node said which slot is the newest. */
  reach(head: number): void {
    this.#head = Math.max(this.#head, head)
    this.#down = false
  }

  /** The node did not answer. */
  lose(): void {
    this.#down = true
  }

  /** A block is told. */
  tell(slot: number, nowMs: number): void {
    this.#slot = Math.max(this.#slot, slot)
    this.#heardAtMs = nowMs
  }
}

// Blocks of the newest slots are still on their way.
const LIVE_SLOTS = 8

/** The codes by which a node says that a slot has no block. */
const SKIPPED: ReadonlySet<number> = new Set([-32007, -32009])
const CLEANED_UP = -32001
const UNREADABLE_TRIES = 3

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5_000

const pauseMs = (failures: number, { retryAfterMs = 0 }: ChainUnavailable): number =>
  Math.max(retryAfterMs, Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures, 10)))

/** Asks for the newest slot until the node tells one. */
const newestSlot = Effect.fnUntraced(function* (
  { newest }: Pick<BlockSource<BlockHead>, "newest">,
  progress: BlockProgress
) {
  for (let failures = 0; ; failures++) {
    const head = yield* Effect.result(newest)
    if (head._tag === "Success") {
      progress.reach(head.success)
      return head.success
    }
    progress.lose()
    yield* Effect.sleep(Duration.millis(pauseMs(failures, head.failure)))
  }
})

/** What the slot holds. A node that is down is waited for; one that answers everything else is not. */
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
    const { reason, rpcCode } = read.failure
    if (rpcCode !== undefined && SKIPPED.has(rpcCode)) {
      return { _tag: "Skipped", slot }
    }
    if (rpcCode === CLEANED_UP) {
      return gap(slot, slot, "cleaned_up")
    }
    if (reason === "invalid" && failures + 1 >= Math.min(tries, UNREADABLE_TRIES)) {
      return gap(slot, slot, "unreadable")
    }
    if (failures + 1 >= tries) {
      return gap(slot, slot, "unavailable")
    }
    yield* Effect.sleep(Duration.millis(pauseMs(failures, read.failure)))
    // A node that cannot be reached loses no block: the count goes on when it is back.
    yield* newestSlot(source, progress)
  }
})

/** Where the telling has come to: the newest block, and slots that are missing since. */
interface Told {
  readonly last: number | null
  readonly missing: BlockGap | null
}

const extend = (missing: BlockGap | null, found: BlockGap): BlockGap | null =>
  missing !== null && missing.reason === found.reason ? { ...missing, to: found.to } : null

const gapEvent = (missing: BlockGap): BlockEvent<never> => ({ _tag: "Gap", ...missing })

/** Slots that the node called skipped although the block was built on one of them. */
const disowned = ({ last, missing }: Told, { parentSlot }: BlockHead): BlockGap | null => {
  const known = Math.max(last ?? parentSlot, missing?.to ?? 0)
  return parentSlot > known ? { from: known + 1, to: parentSlot, reason: "missing" } : null
}

/** What a slot's content adds to what has been told. Gaps of one reason that follow each other become one. */
export const tellContent = <Block extends BlockHead>(
  told: Told,
  content: SlotContent<Block>
): readonly [Told, ReadonlyArray<BlockEvent<Block>>] => {
  switch (content._tag) {
    case "Skipped":
      return [told, []]
    case "Gap": {
      const { from, to, reason } = content
      const extended = extend(told.missing, { from, to, reason })
      return extended === null
        ? [{ ...told, missing: { from, to, reason } }, told.missing === null ? [] : [gapEvent(told.missing)]]
        : [{ ...told, missing: extended }, []]
    }
    case "Block": {
      const { block } = content
      if (told.last !== null && block.slot <= told.last) {
        return [told, []]
      }
      const gaps = [told.missing, disowned(told, block)].filter((missing) => missing !== null)
      return [{ last: block.slot, missing: null }, [...gaps.map(gapEvent), { _tag: "Block", block }]]
    }
  }
}

/** Whether something was read before; who has read nothing yet has no gap either. */
const fromFirstBlock = <Block extends BlockHead>(
  hasBegun: boolean,
  event: BlockEvent<Block>
): readonly [boolean, ReadonlyArray<BlockEvent<Block>>] =>
  hasBegun || event._tag === "Block" ? [true, [event]] : [false, []]

/** Every block after the slot, and gaps; see `BlockFeed.follow`. */
export const followBlocks = <Block extends BlockHead>(
  source: BlockSource<Block>,
  progress: BlockProgress,
  settings: BlockSettings,
  after: number | null
): Stream.Stream<BlockEvent<Block>> =>
  slotsAfter({ ...source, newest: newestSlot(source, progress) }, settings, after).pipe(
    Stream.mapEffect(
      (asked) =>
        typeof asked === "number"
          ? contentOf(source, progress, settings, asked)
          : Effect.succeed<SlotContent<Block>>(asked),
      { concurrency: settings.concurrency }
    ),
    Stream.mapAccum((): Told => ({ last: after === 0 ? null : after, missing: null }), tellContent),
    Stream.mapAccum(() => after !== 0, fromFirstBlock),
    Stream.tap((event) =>
      event._tag === "Block"
        ? Effect.map(Clock.currentTimeMillis, (nowMs) => progress.tell(event.block.slot, nowMs))
        : Effect.logWarning("Blocks are missing", { from: event.from, to: event.to, reason: event.reason })
    )
  )
