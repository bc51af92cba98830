/** The past of a chain before it goes live: blocks far apart at first, and closer together later. */
import { Clock, Duration, Effect } from "effect"
import { type Bank, type Block, SLOT_MS } from "../chain/Bank.ts"
import type { Market } from "./Market.ts"
import type { Pace } from "./Traders.ts"

const SLOTS_PER_HOUR = 3_600_000 / SLOT_MS

/** Slots in so many hours. */
export const slotsOf = (hours: number): number => Math.max(0, Math.round(hours * SLOTS_PER_HOUR))

/** Blocks between two ages of which one is e times the other. */
const DENSITY = 130
/** The longest gap as a part of the whole past: 90 seconds of a day. */
const LONGEST_PART = 1 / 960
/** The longest gap of a short past: half a minute. */
const LONGEST_SLOTS = 75

/** Activity in one block of the past: few swaps for the time it covers, so that it is made quickly. */
const PAST: Pace = { swaps: 4, boldness: 8, hype: 8, alignments: 0.12, slotsPerLaunch: 4_500 }

/** Slots to skip after a block, when `left` of `whole` slots remain. */
export const slotsBetween = (left: number, whole: number): number =>
  Math.min(Math.max(0, left - 1), Math.floor(Math.min(left / DENSITY, Math.max(LONGEST_SLOTS, whole * LONGEST_PART))))

/** Makes the past up to the slot before `until`, one block at a time. */
export function* livePast(bank: Bank, market: Market, until: number): Generator<Block, void> {
  const whole = until - bank.newest().next
  while (bank.newest().next < until) {
    bank.skip(slotsBetween(until - bank.newest().next, whole))
    yield market.advance(PAST)
  }
}

/** Milliseconds of work before other fibers run. */
const SLICE_MS = 5
const PAUSE = Duration.millis(5)
/** Time between two publications. */
const PUBLISH_EVERY_MS = 50

/** The last of several blocks with the accounts of all, each once, as a node that catches up publishes them. */
const merge = (blocks: ReadonlyArray<Block>, last: Block): Block => {
  const accounts = new Map(blocks.flatMap((block) => block.accounts).map((account) => [account.address, account]))
  return { ...last, accounts: Array.from(accounts.values()) }
}

/** Makes the past a few milliseconds at a time, and publishes its progress. */
export const catchUp = Effect.fnUntraced(function* (
  past: Generator<Block, void>,
  publish: (block: Block) => void
): Effect.fn.Return<void> {
  const clock = yield* Clock.Clock
  let blocks: Array<Block> = []
  let publishedMs = clock.currentTimeMillisUnsafe()
  let isOver = false
  while (true) {
    const pauseMs = clock.currentTimeMillisUnsafe() + SLICE_MS
    while (!isOver && clock.currentTimeMillisUnsafe() < pauseMs) {
      const { done, value } = past.next()
      isOver = done === true
      if (value !== undefined) {
        blocks.push(value)
      }
    }
    const nowMs = clock.currentTimeMillisUnsafe()
    const last = blocks.at(-1)
    if (last !== undefined && (isOver || nowMs - publishedMs >= PUBLISH_EVERY_MS)) {
      publish(merge(blocks, last))
      blocks = []
      publishedMs = nowMs
    }
    if (isOver) {
      return
    }
    yield* Effect.sleep(PAUSE)
  }
})
