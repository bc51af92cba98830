/** Reads the rows that `rowWriter.ts` writes. Texts and amounts become values when the row that has them is read. */
import type { Address } from "../../domain/Address.ts"
import type { Signature } from "../../domain/Signature.ts"
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
import { AMOUNT, CAUSE, FEE_KIND, HEAD_BYTES, ROW_BYTES, SIDE, TEXT_BYTES, TIME } from "./rowWriter.ts"
import type { BlockTransaction } from "./TradeBlock.ts"

/** The part of a transaction that every reader visits. */
export type Trading = Pick<BlockTransaction, "index" | "legs" | "moves" | "nets" | "signature" | "unresolved">
/** The part that few readers visit. */
export type Movements = Pick<BlockTransaction, "changes" | "transfers">

/** The fields that all trades and transfers of one transaction share. */
type Shared = Omit<Occurrence, "inner" | "outer">

/** The values of a table of numbers, by number. */
const named = <A extends string>(numbers: Readonly<Record<A, number>>): ReadonlyArray<A> => {
  const names: Array<A> = []
  for (const name in numbers) {
    names[numbers[name]] = name
  }
  return names
}

const sides = named<Trade["side"]>(SIDE)
const feeKinds = named<TradeFee["kind"]>(FEE_KIND)
const causes = named<BalanceCause>(CAUSE)

const at = <A>(items: ReadonlyArray<A>, place: number): A => {
  const item = items[place]
  if (item === undefined) {
    throw new Error(`value ${place} of packed transactions is missing`)
  }
  return item
}

/** Stands for a byte past the end. */
const TRUNCATED = 256

/** Rows of one block. Keeps the texts that it has read. Throws when the bytes are not a whole block. */
export class RowReader {
  /** How many rows there are. */
  readonly rows: number
  readonly #bytes: Buffer<ArrayBuffer>
  readonly #blockTime: number | null
  readonly #texts: Array<string | undefined>
  readonly #endsAt: number
  readonly #textsAt: number
  readonly #rowsAt: number
  #at = 0
  #newest: Shared | null = null

  constructor({ buffer, byteLength, byteOffset }: Uint8Array<ArrayBuffer>) {
    const bytes = Buffer.from(buffer, byteOffset, byteLength)
    this.#bytes = bytes
    this.rows = bytes.readUInt32LE(0)
    const texts = bytes.readUInt32LE(4)
    const blockTime = bytes.readDoubleLE(8)
    this.#blockTime = Number.isNaN(blockTime) ? null : blockTime
    this.#texts = []
    this.#endsAt = HEAD_BYTES + this.rows * ROW_BYTES
    this.#textsAt = this.#endsAt + texts * TEXT_BYTES
    this.#rowsAt = this.#textsAt + (texts === 0 ? 0 : bytes.readUInt32LE(this.#textsAt - TEXT_BYTES))
    if (this.#rowsAt > bytes.length) {
      throw new Error("packed transactions are cut off")
    }
  }

  trading(row: number): Trading {
    this.#open(row, 0)
    return {
      signature: this.#signature(),
      index: this.#number(),
      unresolved: this.#number(),
      legs: this.#list(() => this.#leg()),
      nets: this.#list(() => this.#net()),
      moves: this.#list(() => this.#change())
    }
  }

  movements(row: number): Movements {
    this.#open(row, 4)
    return {
      transfers: this.#list(() => this.#transfer()),
      changes: this.#list(() => this.#change())
    }
  }

  #open(row: number, part: number): void {
    this.#newest = null
    this.#at = this.#rowsAt + this.#bytes.readUInt32LE(HEAD_BYTES + row * ROW_BYTES + part)
  }

  #number(): number {
    const bytes = this.#bytes
    let byte = bytes[this.#at++] ?? TRUNCATED
    if (byte < 128) {
      return byte
    }
    let value = byte & 127
    for (let weight = 128; byte >= 128; weight *= 128) {
      if (byte === TRUNCATED) {
        throw new Error("packed transactions are cut off")
      }
      byte = bytes[this.#at++] ?? TRUNCATED
      value += (byte & 127) * weight
    }
    return value
  }

  #optional(): number | null {
    const value = this.#number()
    return value === 0 ? null : value - 1
  }

  #flag(): boolean {
    return this.#number() === 1
  }

  #list<A>(read: () => A): ReadonlyArray<A> {
    const items: Array<A> = []
    for (let left = this.#number(); left > 0; left--) {
      items.push(read())
    }
    return items
  }

  #text(): string {
    const place = this.#number()
    const known = this.#texts[place]
    if (known !== undefined) {
      return known
    }
    const endAt = this.#endsAt + place * TEXT_BYTES
    if (endAt >= this.#textsAt) {
      throw new Error(`text ${place} of packed transactions is missing`)
    }
    const from = place === 0 ? 0 : this.#bytes.readUInt32LE(endAt - TEXT_BYTES)
    const text = this.#bytes.toString("utf8", this.#textsAt + from, this.#textsAt + this.#bytes.readUInt32LE(endAt))
    this.#texts[place] = text
    return text
  }

  /** Written from an address. */
  #address(): Address {
    return this.#text() as Address
  }

  /** Written from a signature. */
  #signature(): Signature {
    return this.#text() as Signature
  }

  #optionalAmount(): bigint | null {
    switch (this.#number()) {
      case AMOUNT.none:
        return null
      case AMOUNT.plus:
        return BigInt(this.#number())
      case AMOUNT.minus:
        return -BigInt(this.#number())
      case AMOUNT.text:
        return BigInt(this.#text())
      default:
        throw new Error("packed transactions have an unknown kind of amount")
    }
  }

  #amount(): bigint {
    const amount = this.#optionalAmount()
    if (amount === null) {
      throw new Error("an amount of packed transactions is missing")
    }
    return amount
  }

  #time(): number | null {
    const time = this.#number()
    return time === TIME.block ? this.#blockTime : time === TIME.none ? null : time - TIME.first
  }

  /** What this occurrence shares with the one before it, or what the next ones share with it. */
  #shared(): Shared {
    const isNew = this.#flag()
    if (!isNew && this.#newest !== null) {
      return this.#newest
    }
    this.#newest = {
      signature: this.#signature(),
      slot: this.#number(),
      blockTime: this.#time(),
      indexInBlock: this.#optional(),
      feeLamports: this.#amount()
    }
    return this.#newest
  }

  #quantity(): Quantity {
    return { mint: this.#address(), amount: this.#amount(), decimals: this.#optional() }
  }

  #confirmed(): boolean | null {
    const value = this.#optional()
    return value === null ? null : value === 1
  }

  // Fields are read in the order in which they stand. Each object is made at once, because a block has thousands.
  #leg(): Leg {
    const { blockTime, feeLamports, indexInBlock, signature, slot } = this.#shared()
    return {
      signature,
      slot,
      blockTime,
      indexInBlock,
      feeLamports,
      outer: this.#number(),
      inner: this.#optional(),
      wallet: this.#address(),
      side: at(sides, this.#number()),
      token: this.#quantity(),
      quote: this.#quantity(),
      index: this.#number(),
      pool: this.#address(),
      dex: this.#text(),
      confirmed: this.#confirmed(),
      transferFees: this.#transferFees()
    }
  }

  #transferFees(): TransferFees | null {
    const token = this.#optionalAmount()
    return token === null ? null : { token, quote: this.#amount() }
  }

  #net(): NetTrade {
    const { blockTime, feeLamports, indexInBlock, signature, slot } = this.#shared()
    return {
      signature,
      slot,
      blockTime,
      indexInBlock,
      feeLamports,
      outer: this.#number(),
      inner: this.#optional(),
      wallet: this.#address(),
      side: at(sides, this.#number()),
      token: this.#quantity(),
      quote: this.#quantity(),
      index: this.#number(),
      legs: this.#list(() => this.#number()),
      pool: this.#flag() ? this.#address() : null,
      dex: this.#flag() ? this.#text() : null,
      held: { token: this.#span(), quote: this.#span() },
      fees: this.#list(() => this.#fee()),
      priorityLamports: this.#optionalAmount()
    }
  }

  #span(): HeldSpan | null {
    const before = this.#optionalAmount()
    return before === null ? null : { before, after: this.#amount() }
  }

  #fee(): TradeFee {
    return {
      ...this.#quantity(),
      kind: at(feeKinds, this.#number()),
      recipient: this.#address(),
      included: this.#flag(),
      outer: this.#number(),
      inner: this.#optional()
    }
  }

  #transfer(): Transfer {
    return {
      ...this.#shared(),
      outer: this.#number(),
      inner: this.#optional(),
      from: this.#address(),
      to: this.#address(),
      ...this.#quantity(),
      native: this.#flag()
    }
  }

  #change(): BalanceChange {
    return {
      owner: this.#address(),
      mint: this.#address(),
      before: this.#amount(),
      after: this.#amount(),
      delta: this.#amount(),
      decimals: this.#optional(),
      native: this.#flag(),
      cause: at(causes, this.#number())
    }
  }
}
