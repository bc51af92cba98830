/** Profit and loss of a wallet: sums over its positions. */
import { compare, decimalText, type Rational } from "../domain/rational.ts"
import type { Decimal } from "../domain/Scalar.ts"
import { isBasisKnown, isOpen, isTraded, type Position } from "./ledger.ts"
import { type KnownPnl, type MarkedPosition, percent, type PositionPnl, sumOf, sumsOf } from "./pnl.ts"

/** The known part of a wallet's profit, and the share of its trades and holdings that this part covers. */
export interface KnownWalletPnl extends KnownPnl {
  /**
   * Value traded in units of known cost as a fraction of the value of all trades at a known price; null without such trades.
   */
  readonly volumeShare: Decimal | null
  /** Value of the units of known cost as a fraction of the value of all units held with a mark; null when that is zero. */
  readonly openValueShare: Decimal | null
  /** Trades at an unknown price. No volume includes them. */
  readonly unpricedTrades: number
  /** Open positions without a mark or of unknown size. No value includes them. */
  readonly unmarkedPositions: number
}

/** Profit and loss of all positions of a wallet. Amounts in nano-dollars; each sum is null when one of its parts is. */
export interface WalletPnl extends Pick<
  PositionPnl,
  "cost" | "openCost" | "proceeds" | "realized" | "roiPct" | "total" | "unrealized"
> {
  /** Value of all units held. */
  readonly openValue: bigint | null
  /** Positions that are not known to be closed. */
  readonly positionsOpen: number
  readonly positionsClosed: number
  /** Open or closed positions with some units of unknown cost. */
  readonly positionsUnknownBasis: number
  readonly trades: number
  /** Share of winners among closed positions with known costs and prices; null when there are none. */
  readonly winRatePct: Decimal | null
  readonly known: KnownWalletPnl
}

/** A sum whose parts may be unknown, and may be taken out again. */
class PartialSum {
  /** Sum of the known parts. */
  known = 0n
  /** Number of unknown parts. */
  unknown = 0

  add(part: bigint | null, sign: 1 | -1): void {
    if (part === null) {
      this.unknown += sign
    } else {
      this.known += sign === 1 ? part : -part
    }
  }

  /** Null when a part is unknown. */
  get whole(): bigint | null {
    return this.unknown === 0 ? this.known : null
  }
}

/** `part` as a fraction of `of`, to fifteen digits; null when `of` is zero. */
const fraction = (part: bigint, of: bigint): Decimal | null =>
  of === 0n ? null : decimalText({ numerator: part, denominator: of })

const isSamePrice = (a: Rational | null, b: Rational | null): boolean =>
  a === b || (a !== null && b !== null && compare(a, b) === 0)

/** Realized profit of a closed position with known costs and prices; null for any other. */
const resultOf = (position: Position): bigint | null =>
  !isOpen(position) && position.sells > 0 && isBasisKnown(position) ? position.realizedNanos : null

/**
 * Sums over the traded positions of a wallet. A mint that only came and went by transfers is in none. A change of one
 * position or of its mark costs the same, however many others there are.
 */
export class WalletSums<Key> {
  readonly #counted = new Map<Key, MarkedPosition>()
  readonly #realized = new PartialSum()
  readonly #unrealized = new PartialSum()
  readonly #cost = new PartialSum()
  readonly #proceeds = new PartialSum()
  readonly #openCost = new PartialSum()
  readonly #openValue = new PartialSum()
  readonly #known = {
    realized: new PartialSum(),
    cost: 0n,
    unrealized: new PartialSum(),
    value: 0n,
    volume: 0n,
    allVolume: 0n
  }
  readonly #counts = { positions: 0, open: 0, unknownBasis: 0, trades: 0, unpriced: 0, results: 0, wins: 0 }

  /** Counts a position at its mark. It replaces the position that was counted under this key. */
  set(key: Key, position: Position, mark: Rational | null): void {
    const before = this.#counted.get(key)
    if (before?.position === position && isSamePrice(before.mark, mark)) {
      return
    }
    this.delete(key)
    if (isTraded(position)) {
      this.#counted.set(key, { position, mark })
      this.#count({ position, mark }, 1)
    }
  }

  /** Removes what is counted under a key. */
  delete(key: Key): void {
    const before = this.#counted.get(key)
    if (before !== undefined) {
      this.#counted.delete(key)
      this.#count(before, -1)
    }
  }

  /**
   * A position with an unknown cost makes `realized` or `unrealized` null, a position without a mark makes `unrealized`
   * null, and either makes `total` null. `known` sums what is known. All sums of a wallet without positions are zero.
   */
  read(): WalletPnl {
    const { open, positions, results, trades, unknownBasis, wins } = this.#counts
    const [realized, unrealized, cost] = [this.#realized.whole, this.#unrealized.whole, this.#cost.whole]
    const total = sumOf([realized, unrealized])
    return {
      realized,
      unrealized,
      total,
      cost,
      proceeds: this.#proceeds.whole,
      openCost: this.#openCost.whole,
      openValue: this.#openValue.whole,
      roiPct: percent(total, cost),
      positionsOpen: open,
      positionsClosed: positions - open,
      positionsUnknownBasis: unknownBasis,
      trades,
      winRatePct: percent(BigInt(wins), BigInt(results)),
      known: this.#readKnown()
    }
  }

  /** Only the cost is known while the accounts of a position are unread: its known result is then unknown. */
  #readKnown(): KnownWalletPnl {
    const { allVolume, cost, realized, unrealized, value, volume } = this.#known
    const { positions, unpriced } = this.#counts
    const isRead = realized.unknown === 0
    const isMarked = isRead && (positions === 0 || unrealized.unknown < positions)
    return {
      realized: realized.whole,
      unrealized: isMarked ? unrealized.known : null,
      total: isMarked ? realized.known + unrealized.known : null,
      cost,
      volumeShare: isRead ? fraction(volume, allVolume) : null,
      openValueShare: isRead ? fraction(value, this.#openValue.known) : null,
      unpricedTrades: unpriced,
      unmarkedPositions: this.#openValue.unknown
    }
  }

  #count({ mark, position }: MarkedPosition, sign: 1 | -1): void {
    const sums = sumsOf(position, mark)
    this.#realized.add(sums.realized, sign)
    this.#unrealized.add(sums.unrealized, sign)
    this.#cost.add(sums.cost, sign)
    this.#proceeds.add(sums.proceeds, sign)
    this.#openCost.add(sums.openCost, sign)
    this.#openValue.add(sums.value, sign)
    const known = this.#known
    const times = BigInt(sign)
    known.realized.add(sums.known.realized, sign)
    known.cost += times * sums.known.cost
    known.unrealized.add(sums.known.unrealized, sign)
    known.value += sums.value === null ? 0n : times * (sums.knownValue ?? 0n)
    known.volume += times * position.knownVolumeNanos
    known.allVolume += times * position.volumeNanos
    this.#countOne(position, sign)
  }

  #countOne(position: Position, sign: 1 | -1): void {
    const counts = this.#counts
    const result = resultOf(position)
    counts.positions += sign
    counts.open += isOpen(position) ? sign : 0
    counts.unknownBasis += isBasisKnown(position) ? 0 : sign
    counts.trades += sign * (position.buys + position.sells)
    counts.unpriced += sign * position.unpricedTrades
    counts.results += result === null ? 0 : sign
    counts.wins += result !== null && result > 0n ? sign : 0
  }
}

/** Profit and loss of a wallet from its positions. */
export const summaryOf = (all: ReadonlyArray<MarkedPosition>): WalletPnl => {
  const sums = new WalletSums<number>()
  all.forEach(({ mark, position }, place) => sums.set(place, position, mark))
  return sums.read()
}
