/** What sales take by FIFO, LIFO and HIFO, by the rules of docs/numbers.md. Units and nano-dollars, exact. */
import type { Book, BookedEvent } from "./book.ts"

export const LOT_METHODS = ["fifo", "lifo", "hifo"] as const
export type RawMethod = (typeof LOT_METHODS)[number]

/**
 * Units that came together. `order` is their place in time; units that were there before have the lowest. `seen` is the
 * order in which lots became known.
 */
interface RawLot {
  order: number
  seen: number
  units: bigint
  /** Null is unknown. */
  cost: bigint | null
}

/** Units of one lot that one sale took. */
export interface RawSoldLot {
  readonly units: bigint
  readonly cost: bigint | null
  readonly proceeds: bigint | null
}

export interface RawLotBook {
  readonly sold: Array<RawSoldLot>
  open: ReadonlyArray<RawLot>
}

/** True when a lot is taken before another one. */
const goesFirst: Record<RawMethod, (a: RawLot, b: RawLot) => boolean> = {
  fifo: (a, b) => a.order < b.order,
  lifo: (a, b) => a.order > b.order,
  hifo: (a, b) => {
    if (a.cost === null || b.cost === null) {
      return a.cost === null && b.cost === null ? a.seen < b.seen : b.cost === null
    }
    const [left, right] = [a.cost * b.units, b.cost * a.units]
    return left === right ? a.seen < b.seen : left > right
  }
}

/** The lots of one mint, searched as a whole for each part that is taken. */
class Shelf {
  readonly #method: RawMethod
  #lots: Array<RawLot> = []
  #latest = 0
  #earliest = 0
  #seen = 0

  constructor(method: RawMethod) {
    this.#method = method
  }

  get units(): bigint {
    return this.#lots.reduce((sum, { units }) => sum + units, 0n)
  }

  get lots(): ReadonlyArray<RawLot> {
    return this.#lots
  }

  came(units: bigint, cost: bigint | null): void {
    if (units > 0n) {
      this.#lots.push({ order: ++this.#latest, seen: ++this.#seen, units, cost })
    }
  }

  wasThere(units: bigint): void {
    if (units > 0n) {
      this.#lots.push({ order: --this.#earliest, seen: ++this.#seen, units, cost: null })
    }
  }

  /** The parts that so many units are made of. A part of a lot costs its share, rounded down. */
  take(wanted: bigint): ReadonlyArray<Pick<RawLot, "cost" | "units">> {
    const parts: Array<Pick<RawLot, "cost" | "units">> = []
    let left = wanted
    while (left > 0n && this.#lots.length > 0) {
      const next = this.#lots.reduce((best, lot) => (goesFirst[this.#method](lot, best) ? lot : best))
      const units = next.units < left ? next.units : left
      const cost = next.cost === null ? null : (next.cost * units) / next.units
      parts.push({ units, cost })
      next.units -= units
      next.cost = next.cost === null || cost === null ? null : next.cost - cost
      this.#lots = this.#lots.filter((lot) => lot.units > 0n)
      left -= units
    }
    return parts
  }
}

/** Splits the proceeds of a sale by units: the parts up to each lot are rounded down. */
const soldLots = (
  parts: ReadonlyArray<Pick<RawLot, "cost" | "units">>,
  amount: bigint,
  earned: bigint | null
): ReadonlyArray<RawSoldLot> => {
  const upTo = (count: number): bigint => parts.slice(0, count).reduce((sum, { units }) => sum + units, 0n)
  return parts.map(({ cost, units }, at) => ({
    units,
    cost,
    proceeds: earned === null ? null : (earned * upTo(at + 1)) / amount - (earned * upTo(at)) / amount
  }))
}

/**
 * The lots of each mint of one wallet after its events, in the order of the chain. They begin with the position of `book`. What
 * comes in one transaction without a trade is one lot, whoever sent it.
 */
export const lotBooksOf = (
  events: ReadonlyArray<BookedEvent>,
  method: RawMethod,
  book: Book
): ReadonlyMap<string, RawLotBook> => {
  const shelves = new Map<string, Shelf>()
  const books = new Map<string, RawLotBook>()
  for (const { after, before, mint, trades, transaction } of events) {
    if (transaction < (book.get(mint)?.begun ?? Infinity)) {
      continue
    }
    const shelf = shelves.get(mint) ?? new Shelf(method)
    shelves.set(mint, shelf)
    const lots = books.get(mint) ?? { sold: [], open: [] }
    books.set(mint, lots)
    shelf.wasThere(before - shelf.units)
    shelf.take(shelf.units - before)
    const [buys, sells] = [trades.filter(({ isBuy }) => isBuy), trades.filter(({ isBuy }) => !isBuy)]
    const traded = trades.reduce((sum, { amount, isBuy }) => sum + (isBuy ? amount : -amount), 0n)
    const untraded = after - before - traded
    shelf.came(untraded, null)
    buys.forEach(({ amount, fee, nanos }) => shelf.came(amount, nanos === null ? null : nanos + fee))
    for (const { amount, fee, nanos } of sells) {
      shelf.wasThere(amount - shelf.units)
      lots.sold.push(...soldLots(shelf.take(amount), amount, nanos === null ? null : nanos - fee))
    }
    shelf.take(-untraded)
    lots.open = shelf.lots
  }
  return books
}
