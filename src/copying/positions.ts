/** What each follow holds of each mint and what its sales made: the wallet ledger, with fees inside of cost and proceeds. */
import type { Mint } from "../domain/Address.ts"
import type { FilledCopy, PositionKey } from "../domain/wallets/Copying.ts"
import { applyTrade, emptyPosition, type Position } from "../wallets/ledger.ts"
import { CopySums, type SettledCopy } from "./copySums.ts"
import { inOrder } from "./filledCopy.ts"

/** What a purchase cost with its fee, or a sale brought without it; null when either part is unknown. */
const flowOf = ({ feeUsdNanos, side, valueUsdNanos }: FilledCopy): bigint | null => {
  if (valueUsdNanos === null || feeUsdNanos === null) {
    return null
  }
  return side === "buy" ? valueUsdNanos + feeUsdNanos : valueUsdNanos - feeUsdNanos
}

/** One mint of one follow, after all of its copies. */
export class CopyPosition implements PositionKey {
  readonly followId: string
  readonly mint: Mint
  #position: Position
  #copies: Array<SettledCopy> = []
  #sums = new CopySums([])

  constructor({ followId, mint }: PositionKey) {
    this.followId = followId
    this.mint = mint
    this.#position = emptyPosition(mint)
  }

  get position(): Position {
    return this.#position
  }

  /** In the order in which they happened. */
  get copies(): ReadonlyArray<SettledCopy> {
    return this.#copies
  }

  get sums(): CopySums {
    return this.#sums
  }

  /** What the sale of that id made, in nano-dollars; null when it is none of these, or unknown. */
  realizedBy(id: string): bigint | null {
    return this.#copies.findLast(({ copy }) => copy.id === id)?.realized ?? null
  }

  /** Takes more copies. Those that happened before others which are known are given their place among them. */
  take(copies: ReadonlyArray<FilledCopy>): void {
    const added = copies.toSorted(inOrder)
    const [first] = added
    const last = this.#copies.at(-1)?.copy
    if (first !== undefined && last !== undefined && inOrder(first, last) < 0) {
      this.#begin([...this.#copies.map(({ copy }) => copy), ...added].toSorted(inOrder))
    } else {
      this.#goOn(added)
    }
  }

  /** The position as it was then; itself when nothing happened since. */
  asOf(timeMs: number): CopyPosition {
    if ((this.#sums.lastAtMs ?? timeMs) <= timeMs) {
      return this
    }
    const then = new CopyPosition(this)
    then.#begin(this.#copies.map(({ copy }) => copy).filter(({ atMs }) => atMs <= timeMs))
    return then
  }

  #begin(copies: ReadonlyArray<FilledCopy>): void {
    this.#position = emptyPosition(this.mint)
    this.#copies = []
    copies.forEach((copy) => this.#settle(copy))
    this.#sums = new CopySums(this.#copies)
  }

  #goOn(copies: ReadonlyArray<FilledCopy>): void {
    const settled = copies.map((copy) => this.#settle(copy))
    const times = [this.#sums.lastAtMs ?? 0, ...copies.map(({ atMs }) => atMs)]
    if (times.every((time, i) => time >= (times[i - 1] ?? 0))) {
      settled.forEach((copy) => this.#sums.add(copy))
    } else {
      this.#sums = new CopySums(this.#copies)
    }
  }

  #settle(copy: FilledCopy): SettledCopy {
    const { amount, atMs: timeMs, id: signature, mint, side, slot } = copy
    const volumeUsdNanos = flowOf(copy)
    // Realized begins at nothing each time, so that it says what this one sale made.
    this.#position = applyTrade(
      { ...this.#position, realizedNanos: 0n },
      { amount, decimals: null, index: 0, mint, side, signature, slot, timeMs, volumeUsdNanos }
    )
    const settled =
      side === "buy"
        ? { copy, proceeds: null, realized: null }
        : { copy, proceeds: volumeUsdNanos, realized: this.#position.realizedNanos }
    this.#copies.push(settled)
    return settled
  }
}

/** The copies of each position, in the order given. */
export const byPosition = (copies: ReadonlyArray<FilledCopy>): ReadonlyArray<ReadonlyArray<FilledCopy>> =>
  Array.from(Map.groupBy(copies, ({ followId, mint }) => `${followId} ${mint}`).values())

/** The positions behind these copies. */
export const copyPositions = (history: ReadonlyArray<FilledCopy>): ReadonlyArray<CopyPosition> =>
  byPosition(history).flatMap((copies) => {
    const [first] = copies
    if (first === undefined) {
      return []
    }
    const position = new CopyPosition(first)
    position.take(copies)
    return [position]
  })
