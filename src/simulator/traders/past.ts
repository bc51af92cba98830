/** The past of a chain before it goes live. Blocks are far apart at first and get closer. */
import { Clock, Duration, Effect } from "effect"
import { type Bank, type Block, SLOT_MS } from "../chain/Bank.ts"
import type { Market } from "./Market.ts"

const SLOTS_PER_HOUR = 3_600_000 / SLOT_MS

/** How many slots these hours have. */
export const slotsOf = (hours: number): number => Math.max(0, Math.round(hours * SLOTS_PER_HOUR))

/** How many blocks lie between two ages with a ratio of e. */
const DENSITY = 130
/** The longest gap, as a fraction of the whole past: 90 seconds in a day. */
const LONGEST_PART = 1 / 960
/** The longest gap in a short past: half a minute, in slots. */
const LONGEST_SLOTS = 75

/** How many slots to skip after a block, when `left` of `whole` slots remain. */
export const slotsBetween = (left: number, whole: number): number =>
  Math.min(Math.max(0, left - 1), Math.floor(Math.min(left / DENSITY, Math.max(LONGEST_SLOTS, whole * LONGEST_PART))))

/** Makes the past up to the slot before `until`, one block at a time. */
export function* livePast(bank: Bank, market: Market, until: number): Generator<Block, void> {
  const whole = until - bank.newest().next
  while (bank.newest().next < until) {
    bank.skip(slotsBetween(until - bank.newest().next, whole))
    yield market.advance()
  }
}

/** Other fibers run after this many milliseconds of work. */
const SLICE_MS = 5
/**
 * How long the past pauses between slices. Linux gives the service the core first, because the chain's thread has a
 * lower priority (`simulatorWorker.ts`). Elsewhere the past takes a quarter of a core.
 */
const PAUSE = Duration.millis(process.platform === "linux" ? 1 : 15)
/** Time between two publications. Each one costs the service a decoding of all accounts that changed. */
const PUBLISH_EVERY_MS = 200
/** The pause while more important reads are going on. Each block is then published alone. */
const SLOW_PAUSE = Duration.millis(50)

/**
 * The past waits for its reader at this many unread blocks, until the reader has not read for `READER_PATIENCE_MS`.
 */
const MOST_UNREAD = 60
const READER_PATIENCE_MS = 30_000
/** How many slots before the newest read block are kept, for a reader that asks again. */
const READ_KEPT = 5_000

/**
 * True while the reader of the blocks is too far behind. Removes blocks that were read, except the last `kept` slots,
 * because a whole past takes several hundred megabytes of memory.
 */
export const readerPace = (bank: Bank, kept = READ_KEPT): ((nowMs: number) => boolean) => {
  let seen = { slot: bank.readUpTo(), atMs: Number.NEGATIVE_INFINITY }
  return (nowMs) => {
    const slot = bank.readUpTo()
    if (slot > seen.slot || seen.atMs === Number.NEGATIVE_INFINITY) {
      seen = { slot, atMs: nowMs }
      bank.forgetBefore(slot - Math.max(kept, READ_KEPT))
    }
    const unread = Array.from(bank.blocks()).filter((block) => block.slot > slot).length
    return unread > MOST_UNREAD && nowMs - seen.atMs < READER_PATIENCE_MS
  }
}

/**
 * A starting client has what it needs when it has not read accounts for this long. Its first read may take
 * `FIRST_READ_MS`.
 */
const READS_PAUSE_MS = 500
const FIRST_READ_MS = 1_000
/** After this long the past goes on, even while a client still reads accounts. */
const READS_LIMIT_MS = 30_000

/**
 * True while a starting client reads accounts, which are more important than the past. `lastReadMs` is null before
 * the first read.
 */
export const readsFirst = (lastReadMs: () => number | null): ((nowMs: number) => boolean) => {
  let begunMs: number | null = null
  return (nowMs) => {
    begunMs ??= nowMs
    const readMs = lastReadMs()
    const isRead = readMs === null ? nowMs - begunMs < FIRST_READ_MS : nowMs - readMs < READS_PAUSE_MS
    return isRead && nowMs - begunMs < READS_LIMIT_MS
  }
}

/** When the past has to slow down. Times are in milliseconds since the Unix epoch. */
export interface PastPace {
  /** True when no block may be made. */
  readonly mustWait: (nowMs: number) => boolean
  /** True when each publication may have only one block. */
  readonly isBusy: (nowMs: number) => boolean
}

/**
 * Merges several blocks into the last one. Every changed account is in it once, as a node publishes blocks when it
 * catches up.
 */
const merge = (blocks: ReadonlyArray<Block>, last: Block): Block => {
  const accounts = new Map(blocks.flatMap((block) => block.accounts).map((account) => [account.address, account]))
  return { ...last, accounts: Array.from(accounts.values()) }
}

/** Makes the past a few milliseconds at a time, and publishes its progress. */
export const catchUp = Effect.fnUntraced(function* (
  past: Generator<Block, void>,
  publish: (block: Block) => void,
  { isBusy, mustWait }: PastPace
): Effect.fn.Return<void> {
  const clock = yield* Clock.Clock
  let blocks: Array<Block> = []
  let publishedMs = clock.currentTimeMillisUnsafe()
  let isOver = false
  while (true) {
    const startedMs = clock.currentTimeMillisUnsafe()
    const slow = isBusy(startedMs)
    const most = slow ? 1 : Number.POSITIVE_INFINITY
    const pauseMs = mustWait(startedMs) ? startedMs : startedMs + SLICE_MS
    while (!isOver && blocks.length < most && clock.currentTimeMillisUnsafe() < pauseMs) {
      const { done, value } = past.next()
      isOver = done === true
      if (value !== undefined) {
        blocks.push(value)
      }
    }
    const nowMs = clock.currentTimeMillisUnsafe()
    const last = blocks.at(-1)
    if (last !== undefined && (slow || isOver || nowMs - publishedMs >= PUBLISH_EVERY_MS)) {
      publish(merge(blocks, last))
      blocks = []
      publishedMs = nowMs
    }
    if (isOver) {
      return
    }
    yield* Effect.sleep(slow ? SLOW_PAUSE : PAUSE)
  }
})
