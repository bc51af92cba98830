/** Average-cost ledger over observed trades and balances. Exact: units and nano-dollars are integers. */
import { Schema } from "effect"
import { Address, type Mint } from "../domain/Address.ts"
import type { HeldSpan } from "../api/schemas/Trade.ts"
import type { TapeTrade } from "../market/model/TapeTrade.ts"
import { isMoney } from "../domain/stables.ts"
import { addLots, Lots, NO_LOTS, takeLots, Units, unitsOf, unknownUnits } from "./lots.ts"

/** The fields of a trade that change a position. */
export type LedgerTrade = Pick<TapeTrade, "amount" | "decimals" | "feeUsdNanos" | "side" | "timeMs" | "volumeUsdNanos">

/** A trade of a wallet, with its place. A `TapeTrade` of role `wallet` or `both` is one. */
export type WalletTrade = LedgerTrade & Pick<TapeTrade, "index" | "mint" | "signature" | "slot">

/** The trades of one wallet in one mint in one transaction, with the balance that the chain gives for it. */
export interface MintEvent {
  readonly timeMs: number
  readonly decimals: number | null
  /** In the order of the transaction. */
  readonly trades: ReadonlyArray<LedgerTrade>
  /**
   * Units over the wallet's accounts before and after the transaction. `unchanged` when the transaction names none of
   * the accounts, null when balances were not read.
   */
  readonly balance: HeldSpan | "unchanged" | null
  /** Received lots that came with their cost from a wallet of the same owner; left out when there are none. */
  readonly arrived?: Lots | undefined
}

const Nanos = Schema.NullOr(Schema.BigInt)
const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Decimals = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 18 }))

/** The position of one wallet in one mint after the events applied so far. Amounts in units and nano-dollars. */
export const Position = Schema.Struct({
  mint: Address,
  /** Null until a trade or a balance carries them. */
  decimals: Schema.NullOr(Decimals),
  /**
   * Balance on the chain; without balances, units bought minus units sold. Null after a sale of more units than were
   * seen, because the rest is unknown until the next balance.
   */
  held: Schema.NullOr(Units),
  /** Units held as far as they were seen. Their sum is `held` when `held` is known. */
  lots: Lots,
  boughtUnits: Units,
  soldUnits: Units,
  /** Cost of all buys, front-end fees included; null once the cost of one buy is unknown. */
  boughtNanos: Schema.NullOr(Units),
  /** Proceeds of all sells less front-end fees; null once the proceeds of one sell are unknown. */
  proceedsNanos: Nanos,
  /**
   * Proceeds less average cost of all units sold. Null for good once the proceeds or the cost of a sale are unknown, or
   * units left in a transaction that was not seen.
   */
  realizedNanos: Nanos,
  /** Cost of the buys at a known price. */
  knownBoughtNanos: Units,
  /** Proceeds less cost of the units sold whose proceeds and cost are known. */
  knownRealizedNanos: Schema.BigInt,
  /** Value of the trades at a known price, and the part of it traded in units of known cost. */
  volumeNanos: Units,
  knownVolumeNanos: Units,
  buys: Count,
  sells: Count,
  /** Trades at an unknown price. */
  unpricedTrades: Count,
  /** Buys at an unknown price, and sells of units of unknown cost. */
  unknownBasis: Count,
  /** Null before the first event. */
  firstAtMs: Schema.NullOr(Count),
  lastAtMs: Schema.NullOr(Count),
  /** True while the token accounts of the wallet are unread, so that only what was paid and received is known. */
  isUnread: Schema.optionalKey(Schema.Boolean)
})
export type Position = typeof Position.Type

/** The position before the first event. */
export const emptyPosition = (mint: Mint): Position => ({
  mint,
  decimals: null,
  held: 0n,
  lots: NO_LOTS,
  boughtUnits: 0n,
  soldUnits: 0n,
  boughtNanos: 0n,
  proceedsNanos: 0n,
  realizedNanos: 0n,
  knownBoughtNanos: 0n,
  knownRealizedNanos: 0n,
  volumeNanos: 0n,
  knownVolumeNanos: 0n,
  buys: 0,
  sells: 0,
  unpricedTrades: 0,
  unknownBasis: 0,
  firstAtMs: null,
  lastAtMs: null
})

/** The sum; null when a part is unknown. */
const plus = (a: bigint | null, b: bigint | null): bigint | null => (a === null || b === null ? null : a + b)

/** The difference; null when a part is unknown. */
export const minus = (a: bigint | null, b: bigint | null): bigint | null => (a === null || b === null ? null : a - b)

/** True unless the position is known to hold nothing. */
export const isOpen = ({ held }: Position): boolean => held !== 0n

/** True once the wallet has bought or sold the mint. */
export const isTraded = ({ buys, sells }: Position): boolean => buys + sells > 0

/** True when the cost of every unit bought, sold and held is known. */
export const isBasisKnown = ({ held, lots, unknownBasis }: Position): boolean =>
  held !== null && unknownBasis === 0 && unknownUnits(lots) === 0n

/** Cost of the units held; null when the cost of any unit is unknown. */
export const costOf = ({ held, lots }: Position): bigint | null =>
  held === null || unknownUnits(lots) > 0n ? null : lots.costNanos

/** Cost of a purchase with its front-end fee; null when either is unknown. */
export const spent = ({ feeUsdNanos = 0n, volumeUsdNanos }: LedgerTrade): bigint | null =>
  plus(volumeUsdNanos, feeUsdNanos)

/** Proceeds of a sale less its front-end fee; null when either is unknown. */
export const earned = ({ feeUsdNanos = 0n, volumeUsdNanos }: LedgerTrade): bigint | null =>
  minus(volumeUsdNanos, feeUsdNanos)

/** A position that is changed in place, once for each event. */
export type Draft = { -readonly [K in keyof Position]: Position[K] }

const buy = (draft: Draft, trade: LedgerTrade): void => {
  const { amount } = trade
  const cost = spent(trade)
  const value = trade.volumeUsdNanos ?? 0n
  draft.held = plus(draft.held, amount)
  draft.lots = addLots(draft.lots, cost === null ? { unpriced: amount } : { known: amount, costNanos: cost })
  draft.boughtUnits += amount
  draft.boughtNanos = plus(draft.boughtNanos, cost)
  draft.knownBoughtNanos += cost ?? 0n
  draft.volumeNanos += value
  draft.knownVolumeNanos += cost === null ? 0n : value
  draft.buys++
  draft.unknownBasis += cost === null ? 1 : 0
}

/** The share of `value` that belongs to `part` out of `amount` units, rounded down. */
const shareOf = (value: bigint, part: bigint, amount: bigint): bigint =>
  part === amount ? value : (value * part) / amount

const sell = (draft: Draft, trade: LedgerTrade): void => {
  const { amount } = trade
  const seen = unitsOf(draft.lots)
  const isBeyond = amount > seen
  // Units that were never seen to arrive were there before.
  const { left, taken } = takeLots(isBeyond ? addLots(draft.lots, { inherited: amount - seen }) : draft.lots, amount)
  const proceeds = earned(trade)
  const value = trade.volumeUsdNanos ?? 0n
  const isKnown = taken.known === amount
  const knownPart = proceeds === null || amount === 0n ? 0n : shareOf(proceeds, taken.known, amount) - taken.costNanos
  draft.held = isBeyond ? null : minus(draft.held, amount)
  draft.lots = left
  draft.soldUnits += amount
  draft.proceedsNanos = plus(draft.proceedsNanos, proceeds)
  draft.realizedNanos = plus(draft.realizedNanos, isKnown ? minus(proceeds, taken.costNanos) : null)
  draft.knownRealizedNanos += knownPart
  draft.volumeNanos += value
  draft.knownVolumeNanos += amount === 0n ? 0n : shareOf(value, taken.known, amount)
  draft.sells++
  draft.unknownBasis += isKnown ? 0 : 1
}

const addTrade = (draft: Draft, trade: LedgerTrade): void => {
  if (trade.side === "buy") {
    buy(draft, trade)
  } else {
    sell(draft, trade)
  }
  draft.unpricedTrades += trade.volumeUsdNanos === null ? 1 : 0
  draft.decimals = trade.decimals ?? draft.decimals
  draft.firstAtMs ??= trade.timeMs
  draft.lastAtMs = trade.timeMs
}

/** Makes the lots hold `before` units: missing units were there before, extra units left unseen. */
export const openUnits = (draft: Draft, before: bigint): void => {
  const seen = unitsOf(draft.lots)
  draft.held = before
  if (before > seen) {
    draft.lots = addLots(draft.lots, { inherited: before - seen })
  } else if (before < seen) {
    draft.lots = takeLots(draft.lots, seen - before).left
    // It may have been a sale.
    draft.realizedNanos = null
  }
}

const receive = (draft: Draft, amount: bigint, arrived: Lots): void => {
  draft.held = plus(draft.held, amount)
  draft.lots = addLots(addLots(draft.lots, arrived), { received: amount - unitsOf(arrived) })
}

/** Units that leave without a trade take their average cost with them and make no profit. */
const send = (draft: Draft, amount: bigint): Lots => {
  const { left, taken } = takeLots(draft.lots, amount)
  draft.held = minus(draft.held, amount)
  draft.lots = left
  return taken
}

/** Purchases before sales, otherwise in the given order. */
export const buysFirst = <T extends LedgerTrade>(trades: ReadonlyArray<T>): ReadonlyArray<T> =>
  trades.length < 2
    ? trades
    : [...trades.filter(({ side }) => side === "buy"), ...trades.filter(({ side }) => side === "sell")]

/** The balance of an event; null when it is unknown. */
const spanOf = ({ firstAtMs, held }: Position, balance: MintEvent["balance"]): HeldSpan | null =>
  balance !== "unchanged" ? balance : firstAtMs === null || held === null ? null : { before: held, after: held }

/** Units of the balance that the trades do not explain: received when positive, sent when negative. */
export const otherUnits = ({ after, before }: HeldSpan, trades: ReadonlyArray<LedgerTrade>): bigint =>
  trades.reduce((rest, { amount, side }) => rest + (side === "buy" ? -amount : amount), after - before)

/** Units that an event received without a trade, or sent when negative; zero without a balance. */
export const unexplained = ({ balance, trades }: MintEvent): bigint =>
  balance === null || balance === "unchanged" ? 0n : otherUnits(balance, trades)

/** Changes a position by an event as `applyEvent` does, and returns the lots that were sent. */
export const addEvent = (draft: Draft, event: MintEvent): Lots => {
  const { arrived = NO_LOTS, decimals, timeMs, trades } = event
  const balance = spanOf(draft, event.balance)
  if (balance === null) {
    trades.forEach((trade) => addTrade(draft, trade))
    return NO_LOTS
  }
  const other = otherUnits(balance, trades)
  openUnits(draft, balance.before)
  if (other > 0n) {
    receive(draft, other, arrived)
  }
  buysFirst(trades).forEach((trade) => addTrade(draft, trade))
  const sent = other < 0n ? send(draft, -other) : NO_LOTS
  draft.decimals ??= decimals
  draft.firstAtMs ??= timeMs
  draft.lastAtMs = timeMs
  return sent
}

/**
 * The position after a trade of its mint, without a balance. Trades come in chain order, by slot and then by index. A
 * sale takes units of known and of unknown cost in proportion. Units beyond the seen ones have an unknown cost, and how
 * many are left is then unknown.
 */
export const applyTrade = (position: Position, trade: WalletTrade): Position => {
  const draft: Draft = { ...position }
  addTrade(draft, trade)
  return draft
}

/**
 * The position after one transaction. With a balance, `held` is the balance on the chain: units that were there before
 * the first seen transaction are inherited, and units that the trades do not explain were received or sent. Within a
 * transaction, incoming units count before outgoing units.
 */
export const applyEvent = (position: Position, event: MintEvent): Position => {
  const draft: Draft = { ...position }
  addEvent(draft, event)
  return draft
}

/** Chain order: negative when `a` comes first. */
export const byChainOrder = (a: Pick<WalletTrade, "index" | "slot">, b: Pick<WalletTrade, "index" | "slot">): number =>
  a.slot - b.slot || a.index - b.index

/** An event with its mint and place. */
export interface EventOfMint extends MintEvent, Pick<WalletTrade, "index" | "signature" | "slot"> {
  readonly mint: Mint
  readonly trades: ReadonlyArray<WalletTrade>
}

/** The event of some trades of one mint in one transaction, or of a transfer. */
const eventOf = (first: TapeTrade, trades: ReadonlyArray<TapeTrade>): EventOfMint => ({
  mint: first.mint,
  signature: first.signature,
  slot: first.slot,
  index: first.index,
  timeMs: first.timeMs,
  decimals: first.decimals,
  trades: first.role === "transfer" ? [] : trades,
  balance: first.held ?? null
})

/**
 * The trades and transfers of a wallet by transaction and mint, in chain order. Quote money, which has no position, and pool
 * swaps are left out.
 */
export const eventsOf = (trades: ReadonlyArray<TapeTrade>): ReadonlyArray<EventOfMint> => {
  const counted = trades.filter(({ mint, role }) => role !== "pool" && !isMoney(mint)).toSorted(byChainOrder)
  const events: Array<EventOfMint> = []
  for (let from = 0, to = 0; from < counted.length; from = to) {
    const first = counted[from]
    while (to < counted.length && counted[to]?.signature === first?.signature) {
      to++
    }
    if (first !== undefined && to - from === 1) {
      events.push(eventOf(first, [first]))
    } else {
      for (const [, [one, ...others]] of Map.groupBy(counted.slice(from, to), ({ mint }) => mint)) {
        events.push(...(one === undefined ? [] : [eventOf(one, [one, ...others])]))
      }
    }
  }
  return events
}

/** True when the event begins a position: it has a trade, or lots of the same owner. */
export const beginsPosition = ({ arrived, trades }: MintEvent): boolean => trades.length > 0 || arrived !== undefined

/** The positions of a wallet by mint after these events, in the order of the chain. */
export const positionsAfter = (events: ReadonlyArray<EventOfMint>): ReadonlyMap<Mint, Position> => {
  const positions = new Map<Mint, Draft>()
  for (const event of events) {
    const known = positions.get(event.mint)
    if (known !== undefined || beginsPosition(event)) {
      const draft: Draft = known ?? emptyPosition(event.mint)
      positions.set(event.mint, draft)
      addEvent(draft, event)
    }
  }
  return positions
}

/**
 * The positions of a wallet by mint after these trades and transfers, in any order. A position begins with the first
 * trade: earlier transfers are part of the balance that this trade finds.
 */
export const positionsOf = (trades: ReadonlyArray<TapeTrade>): ReadonlyMap<Mint, Position> =>
  positionsAfter(eventsOf(trades))
