/** What each follow holds of each mint and what its sales made: the wallet ledger, with fees inside of cost and proceeds. */
import type { FilledCopy, PositionKey } from "../domain/Copying.ts"
import { applyTrade, emptyPosition, type Position } from "../wallets/ledger.ts"

/** A filled copy with what it made, in nano-dollars. */
export interface SettledCopy {
  readonly copy: FilledCopy
  /** What a sale brought, less its fee; null for a purchase, and where either is unknown. */
  readonly proceeds: bigint | null
  /** Proceeds less average cost of a sale; null for a purchase, and where either is unknown. */
  readonly realized: bigint | null
}

/** One mint of one follow, after all of its copies. */
export interface CopyPosition extends PositionKey {
  readonly position: Position
  /** In the order in which they happened. */
  readonly copies: ReadonlyArray<SettledCopy>
}

/** What a purchase cost with its fee, or a sale brought without it; null when either part is unknown. */
const flowOf = ({ feeUsdNanos, side, valueUsdNanos }: FilledCopy): bigint | null => {
  if (valueUsdNanos === null || feeUsdNanos === null) {
    return null
  }
  return side === "buy" ? valueUsdNanos + feeUsdNanos : valueUsdNanos - feeUsdNanos
}

const settle = (copies: ReadonlyArray<FilledCopy>, first: FilledCopy): CopyPosition => {
  const { followId, mint } = first
  let position = emptyPosition(mint)
  const settled = copies.map((copy): SettledCopy => {
    const { amount, atMs: timeMs, id: signature, side, slot } = copy
    const volumeUsdNanos = flowOf(copy)
    // Realized begins at nothing each time, so that it says what this one sale made.
    position = applyTrade(
      { ...position, realizedNanos: 0n },
      { amount, decimals: null, index: 0, mint, side, signature, slot, timeMs, volumeUsdNanos }
    )
    return side === "buy"
      ? { copy, proceeds: null, realized: null }
      : { copy, proceeds: volumeUsdNanos, realized: position.realizedNanos }
  })
  return { followId, mint, position, copies: settled }
}

/** The positions behind these copies, which come in the order in which they happened. */
export const copyPositions = (history: ReadonlyArray<FilledCopy>): ReadonlyArray<CopyPosition> => {
  const byPosition = new Map<string, [FilledCopy, ...Array<FilledCopy>]>()
  for (const copy of history) {
    const key = `${copy.followId} ${copy.mint}`
    const known = byPosition.get(key)
    if (known === undefined) {
      byPosition.set(key, [copy])
    } else {
      known.push(copy)
    }
  }
  return Array.from(byPosition.values(), (copies) => settle(copies, copies[0]))
}
