/** Positions by follow and mint: the wallet ledger, with fees included in cost and proceeds. */
import type { Mint } from "../../domain/Address.ts"
import type { FilledCopy, PositionKey } from "../../api/schemas/Copying.ts"
import { applyTrade, emptyPosition, type Position } from "../ledger.ts"
import { CopySums, type SettledCopy } from "./copySums.ts"
import { inOrder } from "./filledCopy.ts"

/** Cost of a purchase including its fee, or proceeds of a sale less its fee; null when either part is unknown. */
const flowOf = ({ feeUsdNanos, side, valueUsdNanos }: FilledCopy): bigint | null => {
  if (valueUsdNanos === null || feeUsdNanos === null) {
    return null
  }
  return side === "buy" ? valueUsdNanos + feeUsdNanos : valueUsdNanos - feeUsdNanos
}

/** The position of one follow in one mint, after all of its copies. */
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

  /** In execution order. */
  get copies(): ReadonlyArray<SettledCopy> {
    return this.#copies
  }

  get sums(): CopySums {
    return this.#sums
  }

  /** Realized profit of the sale with this id, in nano-dollars; null when unknown or not in this position. */
  realizedBy(id: string): bigint | null {
    return this.#copies.findLast(({ copy }) => copy.id === id)?.realized ?? null
  }

  /** Adds copies. Copies older than the last one cause the position to be rebuilt. */
  take(copies: ReadonlyArray<FilledCopy>): void {
    const added = copies.toSorted(inOrder)
    const [first] = added
    const last = this.#copies.at(-1)?.copy
    if (first !== undefined && last !== undefined && inOrder(first, last) < 0) {
      this.#rebuild([...this.#copies.map(({ copy }) => copy), ...added].toSorted(inOrder))
    } else {
      this.#append(added)
    }
  }

  /** The position as of `timeMs`; `this` when it has no later copy. */
  asOf(timeMs: number): CopyPosition {
    if ((this.#sums.lastAtMs ?? timeMs) <= timeMs) {
      return this
    }
    const then = new CopyPosition(this)
    then.#rebuild(this.#copies.map(({ copy }) => copy).filter(({ atMs }) => atMs <= timeMs))
    return then
  }

  #rebuild(copies: ReadonlyArray<FilledCopy>): void {
    this.#position = emptyPosition(this.mint)
    this.#copies = []
    copies.forEach((copy) => this.#settle(copy))
    this.#sums = new CopySums(this.#copies)
  }

  #append(copies: ReadonlyArray<FilledCopy>): void {
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
    // Starts from zero, so that the result is the realized profit of this one sale.
    this.#position = applyTrade(
      { ...this.#position, realizedNanos: 0n },
      { amount, decimals: null, index: 0, mint, side, signature, slot, timeMs, volumeUsdNanos }
    )
    const settled =
      side === "buy"
        ? { copy, cost: volumeUsdNanos, proceeds: null, realized: null }
        : { copy, cost: null, proceeds: volumeUsdNanos, realized: this.#position.realizedNanos }
    this.#copies.push(settled)
    return settled
  }
}

/** Copies grouped by position, in the given order. */
export const byPosition = (copies: ReadonlyArray<FilledCopy>): ReadonlyArray<ReadonlyArray<FilledCopy>> =>
  Array.from(Map.groupBy(copies, ({ followId, mint }) => `${followId} ${mint}`).values())
