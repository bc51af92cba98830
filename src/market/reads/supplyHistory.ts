/** The supply of a token at the ends of bars: its supply now less the changes since. */
import { Effect } from "effect"
import type { Mint } from "../../domain/Address.ts"
import { type StoredSupply, supplyRecordsOf } from "../model/StoredSupply.ts"
import type { Market } from "../tape/Market.ts"
import type { Supply } from "./tokenRef.ts"

/** The most changes that are read. For a token with more, the supply is known from the oldest read change on. */
const MOST_CHANGES = 50_000

/** The changes of a supply since a second. */
export type SupplyHistory = StoredSupply

type Tape = Pick<Market["Service"], "recordedSince" | "stored" | "unstored">

/** The stored changes, and the changes of blocks that are not stored yet. */
const withUnstored = (stored: StoredSupply, unstored: ReturnType<Tape["unstored"]>, mint: Mint): SupplyHistory => {
  const newer = unstored.filter(({ slot }) => slot > stored.toSlot)
  return {
    changes: [...stored.changes, ...supplyRecordsOf(newer, mint)],
    from: stored.from,
    toSlot: newer.at(-1)?.slot ?? stored.toSlot
  }
}

/** The changes of a token since a second; null without a store, and while the store is unavailable. */
export const supplyHistory = (tape: Tape, mint: Mint, from: number): Effect.Effect<SupplyHistory | null> =>
  Effect.suspend(() => {
    // Unstored blocks are read before the store, so that no block is missing from both.
    const [stored, unstored] = [tape.stored(), tape.unstored()]
    return stored === null
      ? Effect.succeed(null)
      : stored.trades.supplyOf({ mint, from, most: MOST_CHANGES }).pipe(
          Effect.map((known) => withUnstored(known, unstored, mint)),
          Effect.map((known) => ({ ...known, from: Math.max(known.from, tape.recordedSince()) })),
          Effect.orElseSucceed(() => null)
        )
  })

/**
 * The supply in the smallest units before each of these ascending seconds. Exact. Null when a change since the first
 * second may be unknown: it is older than the first block read without a gap, or newer than the newest block.
 */
export const suppliesBefore = (
  supply: Pick<Supply, "fromSlot" | "toSlot" | "units">,
  { changes, from, toSlot }: SupplyHistory,
  seconds: ReadonlyArray<number>
): ReadonlyArray<bigint> | null => {
  const [first] = seconds
  if (first === undefined || first < from || supply.fromSlot > toSlot) {
    return null
  }
  // Accounts may be ahead of blocks.
  const observed = Math.min(supply.toSlot, toSlot)
  // The supply before all of these changes. The observed supply includes the changes of its slot.
  let units = changes.reduce((left, { change, slot }) => (slot <= observed ? left - change : left), supply.units)
  let next = 0
  const ordered = changes.toSorted((a, b) => a.second - b.second)
  return seconds.map((end) => {
    for (let change = ordered[next]; change !== undefined && change.second < end; change = ordered[++next]) {
      units += change.change
    }
    return units
  })
}
