/** What a chain has been through before anybody looks: blocks that lie far apart long ago, and closer and closer later. */
import { Clock, Duration, Effect } from "effect"
import { type Bank, type Block, SLOT_MS } from "../chain/Bank.ts"
import type { Market } from "./Market.ts"
import type { Pace } from "./Traders.ts"

const SLOTS_PER_HOUR = 3_600_000 / SLOT_MS

/** Slots in so many hours. */
export const slotsOf = (hours: number): number => Math.max(0, Math.round(hours * SLOTS_PER_HOUR))

/** About as many blocks lie between any two ages of which one is e times the other. */
const DENSITY = 130
/** The longest step, as a part of the whole past: a day has no more than 90 seconds between two blocks. */
const LONGEST_PART = 1 / 960
/** A short past has steps of up to half a minute. */
const LONGEST_SLOTS = 75

/** How much happens in one block of the past: little for the time it stands for, so that it is made in no time. */
const PAST: Pace = { swaps: 4, boldness: 8, hype: 8, alignments: 0.12, slotsPerLaunch: 4_500 }

/** Slots to leave out after a block, when `left` of `whole` slots are still to come. */
export const slotsBetween = (left: number, whole: number): number =>
  Math.min(Math.max(0, left - 1), Math.floor(Math.min(left / DENSITY, Math.max(LONGEST_SLOTS, whole * LONGEST_PART))))

/** Lets the past happen, up to the slot before `until`; gives each block. */
export function* livePast(bank: Bank, market: Market, until: number): Generator<Block, void> {
  const whole = until - bank.newest().next
  while (bank.newest().next < until) {
    bank.skip(slotsBetween(until - bank.newest().next, whole))
    yield market.advance(PAST)
  }
}

/** How long the past is worked on before others have their turn, in milliseconds. */
const SLICE_MS = 5
const REST = Duration.millis(5)
/** How often what has come of it is told. */
const TOLD_EVERY_MS = 50

/** The accounts of several blocks, each once, as of the last: what a node tells that catches up. */
const merge = (blocks: ReadonlyArray<Block>, last: Block): Block => {
  const accounts = new Map(blocks.flatMap((block) => block.accounts).map((account) => [account.address, account]))
  return { ...last, accounts: Array.from(accounts.values()) }
}

/** Lets the past happen a few milliseconds at a time, and publishes where it has come to. */
export const catchUp = Effect.fnUntraced(function* (
  past: Generator<Block, void>,
  publish: (block: Block) => void
): Effect.fn.Return<void> {
  const clock = yield* Clock.Clock
  let blocks: Array<Block> = []
  let toldMs = clock.currentTimeMillisUnsafe()
  let isOver = false
  while (true) {
    const restMs = clock.currentTimeMillisUnsafe() + SLICE_MS
    while (!isOver && clock.currentTimeMillisUnsafe() < restMs) {
      const { done, value } = past.next()
      isOver = done === true
      if (value !== undefined) {
        blocks.push(value)
      }
    }
    const nowMs = clock.currentTimeMillisUnsafe()
    const last = blocks.at(-1)
    if (last !== undefined && (isOver || nowMs - toldMs >= TOLD_EVERY_MS)) {
      publish(merge(blocks, last))
      blocks = []
      toldMs = nowMs
    }
    if (isOver) {
      return
    }
    yield* Effect.sleep(REST)
  }
})
