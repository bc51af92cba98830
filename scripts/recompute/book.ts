/** Positions at average cost by the rules of docs/numbers.md. Units and nano-dollars, exact. */
import type { RawTrade, WalletEvent } from "./walletEvents.ts"

/** Units by the way they came, and the cost of the known ones. */
export interface RawLots {
  known: bigint
  cost: bigint
  inherited: bigint
  received: bigint
  unpriced: bigint
}

/** A position of one wallet in one mint. Null is unknown. */
export interface RawPosition {
  /** The transaction that began it: the first trade, or units from another wallet of the owner. */
  begun: number
  lots: RawLots
  holding: bigint
  bought: bigint | null
  proceeds: bigint | null
  realized: bigint | null
  knownBought: bigint
  knownRealized: bigint
  volume: bigint
  knownVolume: bigint
  buys: number
  sells: number
  unpricedTrades: number
}

const noLots = (): RawLots => ({ known: 0n, cost: 0n, inherited: 0n, received: 0n, unpriced: 0n })

const newPosition = (begun: number): RawPosition => ({
  begun,
  lots: noLots(),
  holding: 0n,
  bought: 0n,
  proceeds: 0n,
  realized: 0n,
  knownBought: 0n,
  knownRealized: 0n,
  volume: 0n,
  knownVolume: 0n,
  buys: 0,
  sells: 0,
  unpricedTrades: 0
})

const allOf = ({ inherited, known, received, unpriced }: RawLots): bigint => known + inherited + received + unpriced

const KINDS = ["known", "cost", "inherited", "received", "unpriced"] as const

const add = (lots: RawLots, more: RawLots): void => KINDS.forEach((kind) => (lots[kind] += more[kind]))

/** Takes units of every lot in proportion, and returns them with the cost of the known ones. */
const take = (lots: RawLots, amount: bigint): RawLots => {
  const all = allOf(lots)
  if (all === 0n || amount === 0n) {
    return noLots()
  }
  const marks = [lots.known, lots.known + lots.inherited, all - lots.unpriced, all].map((sum) => (sum * amount) / all)
  const [known = 0n, inherited = 0n, received = 0n, unpriced = 0n] = marks.map(
    (mark, at) => mark - (marks[at - 1] ?? 0n)
  )
  const cost = known === 0n ? 0n : (lots.cost * known) / lots.known
  const taken = { known, cost, inherited, received, unpriced }
  KINDS.forEach((kind) => (lots[kind] -= taken[kind]))
  return taken
}

const buy = (position: RawPosition, { amount, fee, nanos }: RawTrade): void => {
  position.buys++
  position.bought = nanos === null || position.bought === null ? null : position.bought + nanos + fee
  if (nanos === null) {
    position.lots.unpriced += amount
    return
  }
  position.lots.known += amount
  position.lots.cost += nanos + fee
  position.knownBought += nanos + fee
  position.volume += nanos
  position.knownVolume += nanos
}

const sell = (position: RawPosition, { amount, fee, nanos }: RawTrade): void => {
  position.sells++
  position.lots.inherited += amount > allOf(position.lots) ? amount - allOf(position.lots) : 0n
  const { cost, known } = take(position.lots, amount)
  const earned = nanos === null ? null : nanos - fee
  position.proceeds = earned === null || position.proceeds === null ? null : position.proceeds + earned
  position.realized =
    earned === null || known !== amount || position.realized === null ? null : position.realized + earned - cost
  position.knownRealized += earned === null ? 0n : (earned * known) / amount - cost
  position.volume += nanos ?? 0n
  position.knownVolume += nanos === null ? 0n : (nanos * known) / amount
}

/** An event of a wallet, with its balances over all accounts. */
export interface BookedEvent extends Pick<WalletEvent, "after" | "before" | "mint" | "trades" | "wallet"> {
  /** The transaction's place in the chain. */
  readonly transaction: number
}

/** Units that came or, below zero, went otherwise than by trades. */
const untradedOf = ({ after, before, trades }: BookedEvent): bigint =>
  after - before - trades.reduce((sum, { amount, isBuy }) => sum + (isBuy ? amount : -amount), 0n)

/**
 * Applies one event, and returns the lots sent. What comes counts before what goes; what no trade explains was sent, received
 * or, as far as other wallets of the owner sent it, arrived with its lots.
 */
const apply = (position: RawPosition, event: BookedEvent, arrived: RawLots): RawLots => {
  const { after, before, trades } = event
  const seen = allOf(position.lots)
  if (before < seen) {
    take(position.lots, seen - before)
    position.realized = null
  }
  position.lots.inherited += before > seen ? before - seen : 0n
  const untraded = untradedOf(event)
  add(position.lots, arrived)
  position.lots.received += untraded > 0n ? untraded - allOf(arrived) : 0n
  position.unpricedTrades += trades.filter(({ nanos }) => nanos === null).length
  trades.filter(({ isBuy }) => isBuy).forEach((trade) => buy(position, trade))
  trades.filter(({ isBuy }) => !isBuy).forEach((trade) => sell(position, trade))
  position.holding = after
  return untraded < 0n ? take(position.lots, -untraded) : noLots()
}

/** Positions of one wallet by mint. */
export type Book = ReadonlyMap<string, RawPosition>

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** The positions of the wallets of one owner after these events, in the order of the chain. */
export const booksOf = (events: ReadonlyArray<BookedEvent>): ReadonlyMap<string, Book> => {
  const books = new Map<string, Map<string, RawPosition>>()
  const applyAll = (together: ReadonlyArray<BookedEvent>): void => {
    const sent = new Map<string, RawLots>()
    for (const event of together.toSorted((a, b) => Number(untradedOf(a) > 0n) - Number(untradedOf(b) > 0n))) {
      const { mint, trades, wallet } = event
      const book = books.get(wallet) ?? new Map<string, RawPosition>()
      books.set(wallet, book)
      const pool = sent.get(mint) ?? noLots()
      sent.set(mint, pool)
      const untraded = untradedOf(event)
      const arrived = take(pool, untraded > 0n ? least(untraded, allOf(pool)) : 0n)
      const known = book.get(mint)
      if (known === undefined && trades.length === 0 && allOf(arrived) === 0n) {
        continue
      }
      const position = known ?? newPosition(event.transaction)
      book.set(mint, position)
      add(pool, apply(position, event, arrived))
    }
  }
  Map.groupBy(events, ({ transaction }) => transaction).forEach(applyAll)
  return books
}
