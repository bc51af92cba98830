/**
 * Decoded transactions as rows of bytes, to pass between threads and processes. A row is written as soon as its
 * transaction is decoded, so the objects of a transaction end with it. Rows of a block share a table of texts: addresses,
 * signatures and venues. `rowReader.ts` reads what this file writes; both follow the layout below.
 *
 * Bytes of a block, numbers of the head little-endian:
 *
 *     u32 rows, u32 texts, f64 block time in seconds (NaN when unknown)
 *     for each row:  u32 place of its trading, u32 place of its movements, from the first byte of all rows
 *     for each text: u32 end, from the first byte of all texts
 *     the texts, then the rows
 *
 * In a row, a number is a varint, and one that may be null is 0 for null and otherwise one more than its value. A text is
 * its number in the table. An amount is a kind and then a varint of its size, or the number of its decimal text.
 */
import type {
  BalanceCause,
  BalanceChange,
  HeldSpan,
  Leg,
  NetTrade,
  Occurrence,
  Quantity,
  Trade,
  TradeFee,
  Transfer,
  TransferFees
} from "../../api/schemas/Trade.ts"
import type { BlockTransaction } from "./TradeBlock.ts"

export const HEAD_BYTES = 16
export const ROW_BYTES = 8
export const TEXT_BYTES = 4

/** Kinds of amounts. Up to 2^53 an amount is its size and its sign, beyond that its decimal text. */
export const AMOUNT = { none: 0, plus: 1, minus: 2, text: 3 } as const

/** The time of an occurrence. The block's own time is in the head, because it is known last. */
export const TIME = { none: 0, block: 1, first: 2 } as const

export const SIDE: Readonly<Record<Trade["side"], number>> = { buy: 0, sell: 1 }
export const FEE_KIND: Readonly<Record<TradeFee["kind"], number>> = { "front-end": 0, tip: 1 }
export const CAUSE: Readonly<Record<BalanceCause, number>> = {
  trade: 0,
  transfer: 1,
  fee: 2,
  mint: 3,
  burn: 4,
  unknown: 5
}

const FIRST_BYTES = 2 ** 16
/** Bytes of the longest varint. */
const MOST_VARINT = 10
/** Numbers below this are shifted as 32 bits. */
const SHIFTED = 2 ** 31

const isShared = (a: Occurrence, b: Occurrence): boolean =>
  a.signature === b.signature &&
  a.slot === b.slot &&
  a.blockTime === b.blockTime &&
  a.indexInBlock === b.indexInBlock &&
  a.feeLamports === b.feeLamports

/** Whose time the trades of a transaction have: their own, or the block's, which is not known yet. */
export type RowTime = "own" | "block"

/** Rows of the transactions of one block, in the order in which they were decoded. */
export class RowWriter {
  readonly #time: RowTime
  readonly #texts = new Map<string, number>()
  readonly #tradingAt: Array<number> = []
  readonly #movementsAt: Array<number> = []
  #bytes = new Uint8Array(FIRST_BYTES)
  #at = 0
  #newest: Occurrence | null = null

  constructor(time: RowTime) {
    this.#time = time
  }

  /** Writes a transaction, and returns the number of its row. */
  add({ changes, index, legs, moves, nets, signature, transfers, unresolved }: BlockTransaction): number {
    this.#newest = null
    const tradingAt = this.#at
    this.#text(signature)
    this.#number(index)
    this.#number(unresolved)
    this.#number(legs.length)
    for (const leg of legs) {
      this.#leg(leg)
    }
    this.#number(nets.length)
    for (const net of nets) {
      this.#net(net)
    }
    this.#changes(moves)
    this.#newest = null
    const movementsAt = this.#at
    this.#number(transfers.length)
    for (const transfer of transfers) {
      this.#transfer(transfer)
    }
    this.#changes(changes)
    this.#movementsAt.push(movementsAt)
    return this.#tradingAt.push(tradingAt) - 1
  }

  /** The bytes of a block with these rows, in this order. */
  block(rows: ReadonlyArray<number>, blockTime: number | null): Uint8Array<ArrayBuffer> {
    const joined = Array.from(this.#texts.keys()).join("")
    const texts = Buffer.from(joined)
    const isAscii = texts.length === joined.length
    const textsAt = HEAD_BYTES + rows.length * ROW_BYTES + this.#texts.size * TEXT_BYTES
    const block = new Uint8Array(textsAt + texts.length + this.#at)
    const view = new DataView(block.buffer)
    view.setUint32(0, rows.length, true)
    view.setUint32(4, this.#texts.size, true)
    view.setFloat64(8, blockTime ?? Number.NaN, true)
    let at = HEAD_BYTES
    for (const row of rows) {
      view.setUint32(at, this.#tradingAt[row] ?? 0, true)
      view.setUint32(at + 4, this.#movementsAt[row] ?? 0, true)
      at += ROW_BYTES
    }
    let end = 0
    for (const text of this.#texts.keys()) {
      end += isAscii ? text.length : Buffer.byteLength(text)
      view.setUint32(at, end, true)
      at += TEXT_BYTES
    }
    block.set(texts, textsAt)
    block.set(this.#bytes.subarray(0, this.#at), textsAt + texts.length)
    return block
  }

  #number(value: number): void {
    if (this.#at + MOST_VARINT > this.#bytes.length) {
      const bytes = new Uint8Array(2 * this.#bytes.length)
      bytes.set(this.#bytes)
      this.#bytes = bytes
    }
    const bytes = this.#bytes
    let rest = value
    while (rest >= SHIFTED) {
      bytes[this.#at++] = (rest % 128) | 128
      rest = Math.floor(rest / 128)
    }
    while (rest > 127) {
      bytes[this.#at++] = (rest & 127) | 128
      rest >>>= 7
    }
    bytes[this.#at++] = rest
  }

  #optional(value: number | null): void {
    this.#number(value === null ? 0 : value + 1)
  }

  #flag(value: boolean): void {
    this.#number(value ? 1 : 0)
  }

  #text(text: string): void {
    let place = this.#texts.get(text)
    if (place === undefined) {
      place = this.#texts.size
      this.#texts.set(text, place)
    }
    this.#number(place)
  }

  #optionalText(text: string | null): void {
    this.#flag(text !== null)
    if (text !== null) {
      this.#text(text)
    }
  }

  #amount(amount: bigint | null): void {
    if (amount === null) {
      return this.#number(AMOUNT.none)
    }
    // Rounding never makes an unsafe number safe.
    const size = Number(amount)
    if (!Number.isSafeInteger(size)) {
      this.#number(AMOUNT.text)
      return this.#text(`${amount}`)
    }
    this.#number(size < 0 ? AMOUNT.minus : AMOUNT.plus)
    this.#number(Math.abs(size))
  }

  #occurrence(occurrence: Occurrence): void {
    // Trades of a transaction follow each other.
    const isNew = this.#newest === null || !isShared(this.#newest, occurrence)
    this.#flag(isNew)
    if (isNew) {
      const { blockTime, feeLamports, indexInBlock, signature, slot } = occurrence
      this.#newest = occurrence
      this.#text(signature)
      this.#number(slot)
      this.#number(this.#time === "block" ? TIME.block : blockTime === null ? TIME.none : blockTime + TIME.first)
      this.#optional(indexInBlock)
      this.#amount(feeLamports)
    }
    this.#number(occurrence.outer)
    this.#optional(occurrence.inner)
  }

  #quantity({ amount, decimals, mint }: Quantity): void {
    this.#text(mint)
    this.#amount(amount)
    this.#optional(decimals)
  }

  #trade(trade: Trade): void {
    this.#occurrence(trade)
    this.#text(trade.wallet)
    this.#number(SIDE[trade.side])
    this.#quantity(trade.token)
    this.#quantity(trade.quote)
  }

  #leg(leg: Leg): void {
    this.#trade(leg)
    this.#number(leg.index)
    this.#text(leg.pool)
    this.#text(leg.dex)
    this.#optional(leg.confirmed === null ? null : Number(leg.confirmed))
    this.#transferFees(leg.transferFees)
  }

  #transferFees(fees: TransferFees | null): void {
    this.#amount(fees === null ? null : fees.token)
    if (fees !== null) {
      this.#amount(fees.quote)
    }
  }

  #net(net: NetTrade): void {
    this.#trade(net)
    this.#number(net.index)
    this.#number(net.legs.length)
    for (const leg of net.legs) {
      this.#number(leg)
    }
    this.#optionalText(net.pool)
    this.#optionalText(net.dex)
    this.#span(net.held.token)
    this.#span(net.held.quote)
    this.#number(net.fees.length)
    for (const fee of net.fees) {
      this.#fee(fee)
    }
    this.#amount(net.priorityLamports)
  }

  #span(span: HeldSpan | null): void {
    this.#amount(span === null ? null : span.before)
    if (span !== null) {
      this.#amount(span.after)
    }
  }

  #fee(fee: TradeFee): void {
    this.#quantity(fee)
    this.#number(FEE_KIND[fee.kind])
    this.#text(fee.recipient)
    this.#flag(fee.included)
    this.#number(fee.outer)
    this.#optional(fee.inner)
  }

  #transfer(transfer: Transfer): void {
    this.#occurrence(transfer)
    this.#text(transfer.from)
    this.#text(transfer.to)
    this.#quantity(transfer)
    this.#flag(transfer.native)
  }

  #changes(changes: ReadonlyArray<BalanceChange>): void {
    this.#number(changes.length)
    for (const { after, before, cause, decimals, delta, mint, native, owner } of changes) {
      this.#text(owner)
      this.#text(mint)
      this.#amount(before)
      this.#amount(after)
      this.#amount(delta)
      this.#optional(decimals)
      this.#flag(native)
      this.#number(CAUSE[cause])
    }
  }
}
