/**
 * Lots of a position: units with a known cost and units without one, by how they arrived. Exact: units and nano-dollars
 * are integers.
 */
import { Schema } from "effect"

/** A count of units or nano-dollars. */
export const Units = Schema.BigInt.check(Schema.isGreaterThanOrEqualToBigInt(0n))

/** Units held by how they arrived, in smallest units. */
export const Lots = Schema.Struct({
  /** Bought at a known price. */
  known: Units,
  /** Cost of the known units, in nano-dollars. */
  costNanos: Units,
  /** Held before the first seen transaction, or arrived in a transaction that was not seen. */
  inherited: Units,
  /** Arrived without a trade. */
  received: Units,
  /** Bought at an unknown price. */
  unpriced: Units
})
export type Lots = typeof Lots.Type

export const NO_LOTS: Lots = { known: 0n, costNanos: 0n, inherited: 0n, received: 0n, unpriced: 0n }

/** Units of unknown cost. */
export const unknownUnits = ({ inherited, received, unpriced }: Lots): bigint => inherited + received + unpriced

export const unitsOf = (lots: Lots): bigint => lots.known + unknownUnits(lots)

/** The sum of both. */
export const addLots = (a: Lots, b: Partial<Lots>): Lots => ({
  known: a.known + (b.known ?? 0n),
  costNanos: a.costNanos + (b.costNanos ?? 0n),
  inherited: a.inherited + (b.inherited ?? 0n),
  received: a.received + (b.received ?? 0n),
  unpriced: a.unpriced + (b.unpriced ?? 0n)
})

/**
 * Splits off `amount` units, at most all, from every lot in proportion. The known lot gives its share rounded down;
 * then the running shares of inherited, received and unpriced units are rounded down. The cost taken is the average
 * cost of the known units taken, rounded down. The remainder stays.
 */
export const takeLots = (lots: Lots, amount: bigint): { readonly taken: Lots; readonly left: Lots } => {
  const all = unitsOf(lots)
  if (amount === 0n || all === 0n) {
    return { taken: NO_LOTS, left: lots }
  }
  if (all === lots.known) {
    const costNanos = (lots.costNanos * amount) / all
    const taken = { ...NO_LOTS, known: amount, costNanos }
    return { taken, left: { ...NO_LOTS, known: all - amount, costNanos: lots.costNanos - costNanos } }
  }
  const upTo = (sum: bigint): bigint => (sum * amount) / all
  const afterInherited = lots.known + lots.inherited
  const afterReceived = afterInherited + lots.received
  const known = upTo(lots.known)
  const taken: Lots = {
    known,
    costNanos: known === 0n ? 0n : (lots.costNanos * known) / lots.known,
    inherited: upTo(afterInherited) - known,
    received: upTo(afterReceived) - upTo(afterInherited),
    unpriced: amount - upTo(afterReceived)
  }
  const left: Lots = {
    known: lots.known - taken.known,
    costNanos: lots.costNanos - taken.costNanos,
    inherited: lots.inherited - taken.inherited,
    received: lots.received - taken.received,
    unpriced: lots.unpriced - taken.unpriced
  }
  return { taken, left }
}
