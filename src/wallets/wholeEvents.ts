/**
 * Balances over all token accounts of a wallet, from one read of the accounts and the changes before and after the
 * read. Pure.
 */
import type { Mint } from "../domain/Address.ts"
import { type Draft, type EventOfMint, type MintEvent, openUnits, type Position } from "./ledger.ts"

/** Units of a mint at the end of a slot. */
interface UnitsAt {
  readonly units: bigint
  readonly slot: number
}

/** All token accounts of a wallet as they were read. The two token programs may have been read at different slots. */
export class AccountsRead {
  readonly #units: ReadonlyMap<Mint, UnitsAt>
  /** The slots of the two reads, the earlier first. */
  readonly firstSlot: number
  readonly lastSlot: number
  /** Chain time of the newest block that was applied when the read began, in milliseconds since the Unix epoch. */
  readonly chainMs: number
  /** Local time of the read. */
  readonly atMs: number

  constructor(
    programs: ReadonlyArray<{ readonly slot: number; readonly units: ReadonlyMap<Mint, bigint> }>,
    { atMs, chainMs }: { readonly atMs: number; readonly chainMs: number }
  ) {
    const slots = programs.map(({ slot }) => slot)
    this.firstSlot = Math.min(...slots)
    this.lastSlot = Math.max(...slots)
    this.chainMs = chainMs
    this.atMs = atMs
    this.#units = new Map(
      programs.flatMap(({ slot, units }) => Array.from(units, ([mint, of]) => [mint, { units: of, slot }] as const))
    )
  }

  /** Units of a mint. A mint without an account has none, at either slot. */
  of(mint: Mint): UnitsAt {
    return this.#units.get(mint) ?? { units: 0n, slot: this.lastSlot }
  }

  /** True when an event of a mint lies between the two reads and neither read has the mint. */
  isAmbiguous(mint: Mint, { slot }: Pick<EventOfMint, "slot">): boolean {
    return !this.#units.has(mint) && slot > this.firstSlot && slot <= this.lastSlot
  }
}

/** The events of a wallet with whole balances. */
export interface WholeEvents {
  readonly events: ReadonlyArray<EventOfMint>
  /** Units of each mint after its last event. */
  readonly units: ReadonlyMap<Mint, bigint>
  /** Mints whose balance does not follow from the read. The wallet has to be read again. */
  readonly unread: ReadonlySet<Mint>
}

/** The units by which an event changed the balance. */
export const deltaOf = ({ balance, trades }: MintEvent): bigint =>
  balance === "unchanged"
    ? 0n
    : balance === null
      ? trades.reduce((sum, { amount, side }) => sum + (side === "buy" ? amount : -amount), 0n)
      : balance.after - balance.before

/** A read of a wallet's accounts, and since when the wallet's events are complete. */
export interface WholeRequest {
  readonly read: AccountsRead
  /**
   * Every change from this time on is among the events, in milliseconds since the Unix epoch. The read is not earlier.
   */
  readonly fromMs: number
  /** True when the events also include transfers before the first trade of a mint. */
  readonly isComplete: boolean
}

/**
 * The events of one mint with whole balances, and the units after the last event; null when they do not follow from the
 * read.
 */
const wholeOfMint = (
  events: ReadonlyArray<EventOfMint>,
  { fromMs, isComplete, read }: WholeRequest
): { readonly events: ReadonlyArray<EventOfMint>; readonly units: bigint } | null => {
  const [first] = events
  const at = first === undefined ? null : read.of(first.mint)
  const seen = events.filter(({ timeMs }) => timeMs >= fromMs)
  if (first === undefined || at === null || seen.some((event) => read.isAmbiguous(first.mint, event))) {
    return null
  }
  const before = seen.filter(({ slot }) => slot <= at.slot)
  let units = before.reduce((sum, event) => sum - deltaOf(event), at.units)
  const [oldest] = seen
  // Transfers of a mint that was not traded yet may be missing between the read and the first trade.
  const isLater = !isComplete && oldest !== undefined && before.length === 0
  if (isLater && typeof oldest.balance === "object" && oldest.balance?.before !== units) {
    return null
  }
  const whole: Array<EventOfMint> = []
  for (const event of events) {
    if (event.timeMs < fromMs) {
      whole.push(event)
      continue
    }
    const after = units + deltaOf(event)
    if (units < 0n || after < 0n) {
      return null
    }
    whole.push({ ...event, balance: { before: units, after } })
    units = after
  }
  return { events: whole, units }
}

/**
 * Events of a wallet with the balance over all of its accounts; a transaction gives only the balance over the accounts
 * that it names. The changes lead from the read to the balance at each event. Events before `fromMs` stay as they are.
 */
export const wholeEvents = (events: ReadonlyArray<EventOfMint>, request: WholeRequest): WholeEvents => {
  const units = new Map<Mint, bigint>()
  const unread = new Set<Mint>()
  const places = new Map(events.map((event, at) => [event, at] as const))
  const found: Array<EventOfMint> = [...events]
  for (const [mint, own] of Map.groupBy(events, (event) => event.mint)) {
    const whole = wholeOfMint(own, request)
    if (whole === null) {
      unread.add(mint)
    } else {
      units.set(mint, whole.units)
      own.forEach((event, at) => (found[places.get(event) ?? 0] = whole.events[at] ?? event))
    }
  }
  return { events: found, units, unread }
}

/**
 * The position while the accounts of its wallet are unread. The units held are unknown, and so is which units were sold:
 * units in other accounts leave in proportion.
 */
export const unreadPosition = (position: Position): Position => ({
  ...position,
  held: null,
  realizedNanos: null,
  isUnread: true
})

/** The position with the units on the chain: missing units were there before, extra units left unseen. */
export const settledPosition = (position: Position, units: bigint): Position => {
  if (position.held === units) {
    return position
  }
  const draft: Draft = { ...position }
  openUnits(draft, units)
  return draft
}
