/** Sales of one mint matched with the lots that they take, by a method of choice. Exact: units and nano-dollars are integers. Pure. */
import type { HeldSpan } from "../api/schemas/Trade.ts"
import { beginsPosition, buysFirst, earned, type EventOfMint, otherUnits, spent, type WalletTrade } from "./ledger.ts"
import { addLots, type Lots, NO_LOTS, takeLots, unitsOf } from "./lots.ts"

/** `average` is the method of positions; the others take whole lots: the oldest, the newest, or the dearest for one unit first. */
export type LotMethod = "average" | "fifo" | "lifo" | "hifo"

/** How the units of a lot arrived. Only bought lots have a cost. */
export type LotOrigin = "bought" | "inherited" | "received" | "unpriced"

/** A place in the chain. */
export interface LotPlace {
  readonly slot: number
  readonly index: number
}

/** Units that arrived together. */
export interface Lot {
  readonly origin: LotOrigin
  /** Where they arrived. Together with the origin no two lots of a mint have the same; units that were there before have slot 0. */
  readonly place: LotPlace
  /** Null for units that were there before, and for the average of several purchases. */
  readonly acquired: Pick<EventOfMint, "signature" | "timeMs"> | null
  readonly units: bigint
  /** Null when it is unknown. */
  readonly costNanos: bigint | null
}

/** Units of one lot that one sale took. */
export interface SoldLot extends Lot {
  readonly sold: Pick<EventOfMint, "index" | "signature" | "slot" | "timeMs">
  /** The number of the lot within its sale, from 0. */
  readonly part: number
  /** The lot's share of the proceeds; null when they are unknown. */
  readonly proceedsNanos: bigint | null
}

/** What was sold, and what is left. */
export interface LotBook {
  readonly sold: ReadonlyArray<SoldLot>
  readonly open: ReadonlyArray<Lot>
  /** True once units left in a transaction that was not seen: they may have been sold. */
  readonly isBroken: boolean
  /** False while it is not known how many units are held. */
  readonly isHeldKnown: boolean
}

interface Stock {
  add: (lot: Lot) => void
  /** Takes so many units, at most all. */
  take: (units: bigint) => ReadonlyArray<Lot>
  units: () => bigint
  left: () => ReadonlyArray<Lot>
}

const KIND = { inherited: "inherited", received: "received", unpriced: "unpriced" } as const

/** The place of units whose arrival was not seen, and of averages. */
const NOWHERE: LotPlace = { slot: 0, index: 0 }

const lotsOf = (lots: Lots): ReadonlyArray<Lot> => [
  ...(lots.known > 0n
    ? [{ origin: "bought", place: NOWHERE, acquired: null, units: lots.known, costNanos: lots.costNanos } as const]
    : []),
  ...(["inherited", "received", "unpriced"] as const).flatMap((kind) =>
    lots[kind] > 0n
      ? [{ origin: KIND[kind], place: NOWHERE, acquired: null, units: lots[kind], costNanos: null } as const]
      : []
  )
]

/** All units together, taken in proportion, as positions count. */
const averageStock = (): Stock => {
  let lots: Lots = NO_LOTS
  return {
    add: ({ costNanos, origin, units }) => {
      lots = addLots(lots, origin === "bought" ? { known: units, costNanos: costNanos ?? 0n } : { [origin]: units })
    },
    take: (units) => {
      const { left, taken } = takeLots(lots, units)
      lots = left
      return lotsOf(taken)
    },
    units: () => unitsOf(lots),
    left: () => lotsOf(lots)
  }
}

const isDearer = (a: Lot, b: Lot): boolean =>
  a.costNanos !== null && (b.costNanos === null || a.costNanos * b.units > b.costNanos * a.units)

/**
 * The place of a new lot among lots that are taken from the first on. Equal lots keep the order of their arrival. Units of
 * unknown cost come last by `hifo`: nobody can say that they were the dearest.
 */
const placeOf = (lots: ReadonlyArray<Lot>, lot: Lot, method: Exclude<LotMethod, "average">): number => {
  if (method !== "hifo") {
    // Inherited units were there before everything that was seen.
    return (method === "fifo") === (lot.origin === "inherited") ? 0 : lots.length
  }
  let [from, to] = [0, lots.length]
  while (from < to) {
    const middle = (from + to) >> 1
    const known = lots[middle]
    if (known !== undefined && isDearer(lot, known)) {
      to = middle
    } else {
      from = middle + 1
    }
  }
  return from
}

/** Lots one by one. A part of a lot takes its share of the cost, rounded down; the remainder stays. */
const orderedStock = (method: Exclude<LotMethod, "average">): Stock => {
  /** The lot that is taken next is the first. */
  const lots: Array<Lot> = []
  let total = 0n
  return {
    add: (lot) => {
      if (lot.units > 0n) {
        lots.splice(placeOf(lots, lot, method), 0, lot)
        total += lot.units
      }
    },
    take: (units) => {
      const taken: Array<Lot> = []
      let rest = units
      while (rest > 0n) {
        const lot = lots.shift()
        if (lot === undefined) {
          break
        }
        if (lot.units <= rest) {
          taken.push(lot)
          rest -= lot.units
          continue
        }
        const costNanos = lot.costNanos === null ? null : (lot.costNanos * rest) / lot.units
        taken.push({ ...lot, units: rest, costNanos })
        const left = lot.costNanos === null || costNanos === null ? null : lot.costNanos - costNanos
        lots.unshift({ ...lot, units: lot.units - rest, costNanos: left })
        rest = 0n
      }
      total -= units - rest
      return taken
    },
    units: () => total,
    left: () => lots
  }
}

/** The lots of an arrival without a trade. What another wallet of the owner sent keeps its average cost; no other method knows a cost. */
const arrivals = (event: EventOfMint, units: bigint, method: LotMethod): ReadonlyArray<Lot> => {
  const { arrived = NO_LOTS, index, signature, slot, timeMs } = event
  const one: Lot = {
    origin: "received",
    place: { slot, index },
    acquired: { signature, timeMs },
    units,
    costNanos: null
  }
  return method === "average" ? [...lotsOf(arrived), { ...one, units: units - unitsOf(arrived) }] : [one]
}

/**
 * The events of one mint in the order of the chain, with what each sale took by the method. `units` are the units on the
 * chain after the last event; null when the events are all that is known.
 */
export const lotBook = (
  events: ReadonlyArray<EventOfMint>,
  method: LotMethod,
  units: bigint | null = null
): LotBook => {
  const stock = method === "average" ? averageStock() : orderedStock(method)
  const sold: Array<SoldLot> = []
  let [isBroken, hasBegun, held]: [boolean, boolean, bigint | null] = [false, false, 0n]

  let earlier = 0
  const inherit = (units: bigint) => {
    stock.add({ origin: "inherited", place: { slot: 0, index: ++earlier }, acquired: null, units, costNanos: null })
  }
  const buy = (trade: WalletTrade, at: Pick<EventOfMint, "signature" | "timeMs">) => {
    const costNanos = spent(trade)
    const origin = costNanos === null ? "unpriced" : "bought"
    const place = { slot: trade.slot, index: trade.index }
    stock.add({ origin, place, acquired: at, units: trade.amount, costNanos })
    held = held === null ? null : held + trade.amount
  }
  const sell = (trade: WalletTrade, at: Pick<EventOfMint, "signature" | "timeMs">) => {
    const seen = stock.units()
    // Units that were never seen to arrive were there before.
    inherit(trade.amount > seen ? trade.amount - seen : 0n)
    held = held === null || trade.amount > seen ? null : held - trade.amount
    const proceeds = earned(trade)
    const of = { ...at, slot: trade.slot, index: trade.index }
    let [taken, shared] = [0n, 0n]
    for (const [part, lot] of stock.take(trade.amount).entries()) {
      taken += lot.units
      const upTo = proceeds === null ? 0n : (proceeds * taken) / trade.amount
      sold.push({ ...lot, sold: of, part, proceedsNanos: proceeds === null ? null : upTo - shared })
      shared = upTo
    }
  }
  /** Missing units were there before, extra units left unseen. */
  const settle = (balance: bigint) => {
    const seen = stock.units()
    inherit(balance > seen ? balance - seen : 0n)
    if (balance < seen) {
      stock.take(seen - balance)
      isBroken = true
    }
    held = balance
  }
  for (const event of events) {
    hasBegun ||= beginsPosition(event)
    if (!hasBegun) {
      continue
    }
    const at = { signature: event.signature, timeMs: event.timeMs }
    const balance: HeldSpan | null =
      event.balance === "unchanged" ? (held === null ? null : { before: held, after: held }) : event.balance
    if (balance === null) {
      event.trades.forEach((trade) => (trade.side === "buy" ? buy(trade, at) : sell(trade, at)))
      continue
    }
    settle(balance.before)
    const other = otherUnits(balance, event.trades)
    if (other > 0n) {
      arrivals(event, other, method).forEach((lot) => stock.add(lot))
    }
    buysFirst(event.trades).forEach((trade) => (trade.side === "buy" ? buy(trade, at) : sell(trade, at)))
    stock.take(other < 0n ? -other : 0n)
    held = balance.after
  }
  if (hasBegun && units !== null) {
    settle(units)
  }
  return { sold, open: stock.left(), isBroken, isHeldKnown: held !== null }
}
