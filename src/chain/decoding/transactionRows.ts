/**
 * Decoded transactions as JSON rows, to pass between threads and processes. Every address stands once in a table, and
 * so do the fields that all trades of a transaction share. Amounts are decimal text. `deserialize` of `node:v8` is not
 * used: everything it makes stays reachable until the garbage collection after the next one, which then copies it.
 */
import type { Address } from "../../domain/Address.ts"
import type {
  BalanceChange,
  HeldSpan,
  Leg,
  NetTrade,
  Occurrence,
  Quantity,
  Trade,
  TradeFee,
  Transfer
} from "../../api/schemas/Trade.ts"
import type { BlockTransaction } from "./TradeBlock.ts"

/** The part of a transaction that every reader visits. */
export type Trading = Pick<BlockTransaction, "index" | "legs" | "moves" | "nets" | "signature" | "unresolved">
/** The part that few readers visit. */
export type Movements = Pick<BlockTransaction, "changes" | "transfers">

type Count = number | null
/** The place of an address in the table of addresses. */
type At = number
type SharedRow = readonly [Occurrence["signature"], slot: number, blockTime: Count, index: Count, feeLamports: string]
type PlaceRow = readonly [shared: number, outer: number, inner: Count]
type QuantityRow = readonly [mint: At, amount: string, decimals: Count]
type TradeRow = readonly [place: PlaceRow, wallet: At, side: Trade["side"], token: QuantityRow, quote: QuantityRow]
type FeesRow = readonly [token: string, quote: string] | null
type LegRow = readonly [TradeRow, index: number, pool: At, dex: string, confirmed: boolean | null, fees: FeesRow]
type SpanRow = readonly [before: string, after: string] | null
type FeeRow = readonly [QuantityRow, TradeFee["kind"], recipient: At, included: boolean, outer: number, inner: Count]
type NetRow = readonly [
  trade: TradeRow,
  index: number,
  legs: ReadonlyArray<number>,
  pool: At | null,
  dex: string | null,
  held: readonly [token: SpanRow, quote: SpanRow],
  fees: ReadonlyArray<FeeRow>,
  priorityLamports: string | null
]
type Cause = BalanceChange["cause"]
type ChangeRow = readonly [owner: At, mint: At, before: string, after: string, delta: string, Count, boolean, Cause]
type TransferRow = readonly [place: PlaceRow, from: At, to: At, quantity: QuantityRow, native: boolean]
type TradingRow = readonly [
  signature: Occurrence["signature"],
  index: number,
  unresolved: number,
  legs: ReadonlyArray<LegRow>,
  nets: ReadonlyArray<NetRow>,
  moves: ReadonlyArray<ChangeRow>
]
type MovementsRow = readonly [transfers: ReadonlyArray<TransferRow>, changes: ReadonlyArray<ChangeRow>]

/** Rows, and the tables that they refer to. */
interface Sheet<Row> {
  readonly addresses: ReadonlyArray<Address>
  readonly shared: ReadonlyArray<SharedRow>
  readonly rows: ReadonlyArray<Row>
}

const isShared = (a: Occurrence, b: Occurrence): boolean =>
  a.signature === b.signature &&
  a.slot === b.slot &&
  a.blockTime === b.blockTime &&
  a.indexInBlock === b.indexInBlock &&
  a.feeLamports === b.feeLamports

class Writer {
  readonly addresses = new Map<Address, number>()
  readonly shared: Array<SharedRow> = []
  readonly #sharedAt = new Map<string, number>()
  #newest: Occurrence | null = null
  #newestAt = 0

  address(address: Address): number {
    const place = this.addresses.get(address) ?? this.addresses.size
    this.addresses.set(address, place)
    return place
  }

  place(occurrence: Occurrence): PlaceRow {
    // Trades of a transaction follow each other.
    if (this.#newest === null || !isShared(this.#newest, occurrence)) {
      this.#newest = occurrence
      this.#newestAt = this.#placeOf(occurrence)
    }
    return [this.#newestAt, occurrence.outer, occurrence.inner]
  }

  #placeOf({ blockTime, feeLamports, indexInBlock, signature, slot }: Occurrence): number {
    const key = `${signature} ${slot} ${blockTime} ${indexInBlock} ${feeLamports}`
    const known = this.#sharedAt.get(key)
    if (known !== undefined) {
      return known
    }
    this.#sharedAt.set(key, this.shared.length)
    return this.shared.push([signature, slot, blockTime, indexInBlock, `${feeLamports}`]) - 1
  }

  quantity({ amount, decimals, mint }: Quantity): QuantityRow {
    return [this.address(mint), `${amount}`, decimals]
  }

  trade(trade: Trade): TradeRow {
    const { quote, side, token, wallet } = trade
    return [this.place(trade), this.address(wallet), side, this.quantity(token), this.quantity(quote)]
  }

  leg(leg: Leg): LegRow {
    const { confirmed, dex, index, pool, transferFees: fees } = leg
    return [
      this.trade(leg),
      index,
      this.address(pool),
      dex,
      confirmed,
      fees === null ? null : [`${fees.token}`, `${fees.quote}`]
    ]
  }

  net(net: NetTrade): NetRow {
    const { dex, fees, held, index, legs, pool, priorityLamports } = net
    return [
      this.trade(net),
      index,
      legs,
      pool === null ? null : this.address(pool),
      dex,
      [spanRow(held.token), spanRow(held.quote)],
      fees.map((fee) => this.fee(fee)),
      priorityLamports === null ? null : `${priorityLamports}`
    ]
  }

  fee(fee: TradeFee): FeeRow {
    return [this.quantity(fee), fee.kind, this.address(fee.recipient), fee.included, fee.outer, fee.inner]
  }

  change({ after, before, cause, decimals, delta, mint, native, owner }: BalanceChange): ChangeRow {
    return [this.address(owner), this.address(mint), `${before}`, `${after}`, `${delta}`, decimals, native, cause]
  }

  transfer(transfer: Transfer): TransferRow {
    const { from, native, to } = transfer
    return [this.place(transfer), this.address(from), this.address(to), this.quantity(transfer), native]
  }

  sheet<Row>(rows: ReadonlyArray<Row>): string {
    const sheet: Sheet<Row> = {
      addresses: Array.from(this.addresses.keys()),
      shared: this.shared,
      rows
    }
    return JSON.stringify(sheet)
  }
}

const spanRow = (span: HeldSpan | null): SpanRow => (span === null ? null : [`${span.before}`, `${span.after}`])

const spanOf = (row: SpanRow): HeldSpan | null =>
  row === null ? null : { before: BigInt(row[0]), after: BigInt(row[1]) }

/** The fields that all trades and transfers of one transaction share. */
type Shared = Omit<Occurrence, "inner" | "outer">

class Reader {
  readonly #addresses: ReadonlyArray<Address>
  readonly #shared: ReadonlyArray<Shared>

  constructor({ addresses, shared }: Pick<Sheet<unknown>, "addresses" | "shared">) {
    this.#addresses = addresses
    this.#shared = shared.map(([signature, slot, blockTime, indexInBlock, fee]) => ({
      signature,
      slot,
      blockTime,
      indexInBlock,
      feeLamports: BigInt(fee)
    }))
  }

  address(place: number): Address {
    return at(this.#addresses, place)
  }

  change([owner, mint, before, after, delta, decimals, native, cause]: ChangeRow): BalanceChange {
    return {
      owner: this.address(owner),
      mint: this.address(mint),
      before: BigInt(before),
      after: BigInt(after),
      delta: BigInt(delta),
      decimals,
      native,
      cause
    }
  }

  quantity([mint, amount, decimals]: QuantityRow): Quantity {
    return { mint: this.address(mint), amount: BigInt(amount), decimals }
  }

  trade([[shared, outer, inner], wallet, side, token, quote]: TradeRow): Trade {
    return {
      ...at(this.#shared, shared),
      outer,
      inner,
      wallet: this.address(wallet),
      side,
      token: this.quantity(token),
      quote: this.quantity(quote)
    }
  }

  leg([trade, index, pool, dex, confirmed, fees]: LegRow): Leg {
    return {
      ...this.trade(trade),
      index,
      pool: this.address(pool),
      dex,
      confirmed,
      transferFees: fees === null ? null : { token: BigInt(fees[0]), quote: BigInt(fees[1]) }
    }
  }

  net([trade, index, legs, pool, dex, held, fees, priority]: NetRow): NetTrade {
    return {
      ...this.trade(trade),
      index,
      legs,
      pool: pool === null ? null : this.address(pool),
      dex,
      held: { token: spanOf(held[0]), quote: spanOf(held[1]) },
      fees: fees.map((fee) => this.fee(fee)),
      priorityLamports: priority === null ? null : BigInt(priority)
    }
  }

  fee([quantity, kind, recipient, included, outer, inner]: FeeRow): TradeFee {
    return { ...this.quantity(quantity), kind, recipient: this.address(recipient), included, outer, inner }
  }

  transfer([[shared, outer, inner], from, to, quantity, native]: TransferRow): Transfer {
    return {
      ...at(this.#shared, shared),
      outer,
      inner,
      from: this.address(from),
      to: this.address(to),
      ...this.quantity(quantity),
      native
    }
  }
}

const at = <A>(items: ReadonlyArray<A>, place: number): A => {
  const item = items[place]
  if (item === undefined) {
    throw new Error(`row ${place} of packed transactions is missing`)
  }
  return item
}

/** Writes the trades of transactions as JSON. */
export const writeTrading = (transactions: ReadonlyArray<Trading>): string => {
  const to = new Writer()
  return to.sheet(
    transactions.map(({ index, legs, moves, nets, signature, unresolved }): TradingRow => [
      signature,
      index,
      unresolved,
      legs.map((leg) => to.leg(leg)),
      nets.map((net) => to.net(net)),
      moves.map((move) => to.change(move))
    ])
  )
}

/** Reads what `writeTrading` wrote. */
export const readTrading = (json: string): ReadonlyArray<Trading> => {
  const sheet: Sheet<TradingRow> = JSON.parse(json)
  const from = new Reader(sheet)
  return sheet.rows.map(([signature, index, unresolved, legs, nets, moves]) => ({
    signature,
    index,
    legs: legs.map((leg) => from.leg(leg)),
    nets: nets.map((net) => from.net(net)),
    moves: moves.map((move) => from.change(move)),
    unresolved
  }))
}

/** Writes the transfers and balance changes of transactions as JSON. */
export const writeMovements = (transactions: ReadonlyArray<Movements>): string => {
  const to = new Writer()
  return to.sheet(
    transactions.map(({ changes, transfers }): MovementsRow => [
      transfers.map((transfer) => to.transfer(transfer)),
      changes.map((change) => to.change(change))
    ])
  )
}

/** Reads what `writeMovements` wrote. */
export const readMovements = (json: string): ReadonlyArray<Movements> => {
  const sheet: Sheet<MovementsRow> = JSON.parse(json)
  const from = new Reader(sheet)
  return sheet.rows.map(([transfers, changes]) => ({
    transfers: transfers.map((transfer) => from.transfer(transfer)),
    changes: changes.map((change) => from.change(change))
  }))
}
