/**
 * Reads the transactions of a block of version 2: JSON rows in which every address stands once in a table, and so do the
 * fields that all trades of a transaction share. Amounts are decimal text. To be removed with version 2.
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
import type { BlockTransaction } from "../../chain/decoding/TradeBlock.ts"

type Trading = Pick<BlockTransaction, "index" | "legs" | "moves" | "nets" | "signature" | "unresolved">
type Movements = Pick<BlockTransaction, "changes" | "transfers">

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

const tradingOf = (json: string): ReadonlyArray<Trading> => {
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

const movementsOf = (json: string): ReadonlyArray<Movements> => {
  const sheet: Sheet<MovementsRow> = JSON.parse(json)
  const from = new Reader(sheet)
  return sheet.rows.map(([transfers, changes]) => ({
    transfers: transfers.map((transfer) => from.transfer(transfer)),
    changes: changes.map((change) => from.change(change))
  }))
}

/** The transactions of one part, from its line of trades and its line of movements. */
export const transactionsOfLines = (trading: string, movements: string): ReadonlyArray<BlockTransaction> => {
  const moved = movementsOf(movements)
  return tradingOf(trading).map((transaction, place) => ({ ...transaction, ...at(moved, place) }))
}
