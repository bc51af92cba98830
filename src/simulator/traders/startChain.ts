/** A chain with a market, as it is before its past is made. */
import { type Bank, makeBank, SLOT_MS } from "../chain/Bank.ts"
import { makeMarket, type Market } from "./Market.ts"
import { slotsOf } from "./past.ts"

// Slots count from the real chain's genesis, so a later start never begins at an earlier slot.
const GENESIS_MS = Date.UTC(2020, 2, 16, 14, 29)

/**
 * Chains start at multiples of this. Times of blocks are whole seconds and slots are not, so the seconds between two
 * blocks are the same in every chain of a seed only when all begin at the same part of a second.
 */
const START_EVERY_MS = 2_000

/** When a chain goes live that starts now. */
export const startOf = (nowMs: number): number => nowMs - (nowMs % START_EVERY_MS)

/** A slot and when it starts, in milliseconds since the Unix epoch. */
export interface SlotTime {
  readonly slot: number
  readonly unixMs: number
}

/** The first slot after the past of a chain, and the slots of the past. */
export interface ChainStart {
  readonly live: SlotTime
  readonly pastSlots: number
}

export const chainStart = (historyHours: number, unixMs: number): ChainStart => {
  const slot = Math.max(1, Math.floor((unixMs - GENESIS_MS) / SLOT_MS))
  return { live: { slot, unixMs }, pastSlots: Math.min(slotsOf(historyHours), slot - 1) }
}

export interface Chain {
  readonly bank: Bank
  readonly market: Market
}

/** Makes the bank of a chain, with nothing but a clock. At speed 0 slots have their usual length. */
export const makeEmptyBank = (
  { seed, speed }: { readonly seed: string; readonly speed: number },
  { live, pastSlots }: ChainStart
): Bank =>
  makeBank({
    seed,
    startSlot: live.slot - pastSlots,
    startUnixMs: live.unixMs - pastSlots * SLOT_MS,
    live: speed > 0 ? { slot: live.slot, slotMs: SLOT_MS / speed } : undefined
  })

/** Makes the chain of a seed with its first block. */
export const makeChain = (
  options: Omit<Parameters<typeof makeMarket>[0], "bank" | "liveUnixMs"> & { readonly speed: number },
  start: ChainStart
): Chain => {
  const bank = makeEmptyBank(options, start)
  return { bank, market: makeMarket({ ...options, bank, liveUnixMs: start.live.unixMs }) }
}
