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

const newPosition = (): RawPosition => ({
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

/** Takes units of every lot in proportion, and returns the known ones taken with their cost. */
const take = (lots: RawLots, amount: bigint): { readonly known: bigint; readonly cost: bigint } => {
  const all = allOf(lots)
  if (all === 0n || amount === 0n) {
    return { known: 0n, cost: 0n }
  }
  const marks = [lots.known, lots.known + lots.inherited, all - lots.unpriced, all].map((sum) => (sum * amount) / all)
  const [known = 0n, inherited = 0n, received = 0n, unpriced = 0n] = marks.map(
    (mark, at) => mark - (marks[at - 1] ?? 0n)
  )
  const cost = known === 0n ? 0n : (lots.cost * known) / lots.known
  lots.known -= known
  lots.cost -= cost
  lots.inherited -= inherited
  lots.received -= received
  lots.unpriced -= unpriced
  return { known, cost }
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

type Balances = Pick<WalletEvent, "after" | "before" | "trades">

/** Applies one transaction: what comes counts before what goes, and what no trade explains was received or sent. */
const apply = (position: RawPosition, { after, before, trades }: Balances): void => {
  const seen = allOf(position.lots)
  if (before < seen) {
    take(position.lots, seen - before)
    position.realized = null
  }
  position.lots.inherited += before > seen ? before - seen : 0n
  const traded = trades.reduce((sum, { amount, isBuy }) => sum + (isBuy ? amount : -amount), 0n)
  const other = after - before - traded
  position.lots.received += other > 0n ? other : 0n
  position.unpricedTrades += trades.filter(({ nanos }) => nanos === null).length
  trades.filter(({ isBuy }) => isBuy).forEach((trade) => buy(position, trade))
  trades.filter(({ isBuy }) => !isBuy).forEach((trade) => sell(position, trade))
  if (other < 0n) {
    take(position.lots, -other)
  }
  position.holding = after
}

/** Positions of one wallet by mint. A position begins with the first trade of its mint. */
export type Book = ReadonlyMap<string, RawPosition>

/** The positions after these events, in the order of the chain; `whole` gives the balances over all accounts. */
export const bookOf = (
  events: ReadonlyArray<WalletEvent>,
  whole: (event: WalletEvent) => { readonly before: bigint; readonly after: bigint }
): Book => {
  const positions = new Map<string, RawPosition>()
  for (const event of events) {
    const balances = whole(event)
    const known = positions.get(event.mint)
    if (known !== undefined || event.trades.length > 0) {
      const position = known ?? newPosition()
      apply(position, { ...balances, trades: event.trades })
      positions.set(event.mint, position)
    }
  }
  return positions
}
