/** The events of a wallet with balances over all of its token accounts, as far as these accounts were read. */
import type { Address, Mint } from "../domain/Address.ts"
import type { Market } from "../market/tape/Market.ts"
import { isContiguous } from "./joinHistory.ts"
import { type EventOfMint, eventsOf, type Position, positionsAfter } from "./ledger.ts"
import type { HistoryProgress } from "./historyProgress.ts"
import type { WalletHistory } from "./WalletIndex.ts"
import type { WalletAccounts } from "./WalletAccounts.ts"
import { type AccountsRead, settledPosition, unreadPosition, wholeEvents } from "./wholeEvents.ts"

/** `known` when every balance is over all token accounts of the wallet. */
export type AccountsStatus = "known" | "waiting" | "unavailable"

/** The events of a wallet, and the state of its balances. */
export interface AccountedEvents {
  readonly events: ReadonlyArray<EventOfMint>
  readonly status: AccountsStatus
  /** Units of each mint after the last event; null when the accounts that transactions name count as all. */
  readonly units: ReadonlyMap<Mint, bigint> | null
  /** Mints whose balances are not known. */
  readonly isUnread: (mint: Mint) => boolean
}

/** Trades of a wallet, with the progress of reading its transactions. */
export interface HeldHistory {
  readonly wallet: Address
  readonly history: WalletHistory | null
  readonly progress: HistoryProgress | null
}

type Blocks = Pick<Market["Service"], "gaps" | "newestSlot" | "unstored">

/** From this time on every change of a wallet is among its events; zero when nothing is known to be missing. */
const wholeFromMs = (tape: Blocks, { history, progress }: HeldHistory): number => {
  const isRead = progress !== null && progress.missing === 0 && isContiguous(progress, history)
  const gaps = isRead ? [] : tape.gaps().map(({ toSecond }) => (toSecond + 1) * 1000)
  // A history that ends before the observed blocks begin leaves a gap between the two.
  const begins = isRead || progress === null ? 0 : (history?.liveSinceMs ?? 0)
  return Math.max(begins, ...gaps)
}

/** True when everything up to the read was applied and stored. */
const isSettled = (tape: Blocks, { lastSlot }: AccountsRead): boolean =>
  tape.newestSlot() >= lastSlot && tape.unstored().every(({ slot }) => slot > lastSlot)

/** True unless changes between the read and the held trades may be missing. */
const isUsable = ({ chainMs, lastSlot }: AccountsRead, fromMs: number, { history }: HeldHistory): boolean =>
  chainMs >= fromMs && (history?.truncated !== true || (history.trades.at(-1)?.slot ?? 0) <= lastSlot)

/** The events of a wallet. Requests its accounts when they were not read, or not since the last gap. */
export const accountedEvents = (
  tape: Blocks,
  accounts: WalletAccounts["Service"],
  held: HeldHistory
): AccountedEvents => {
  const events = eventsOf(held.history?.trades ?? [])
  const read = accounts.of(held.wallet)
  if (read === "named") {
    return { events, status: "known", units: null, isUnread: () => false }
  }
  accounts.ask([held.wallet])
  const unread = (status: AccountsStatus): AccountedEvents => ({ events, status, units: null, isUnread: () => true })
  if (typeof read === "string") {
    return unread(read)
  }
  const fromMs = wholeFromMs(tape, held)
  if (!isUsable(read, fromMs, held)) {
    accounts.again(held.wallet)
    return unread("waiting")
  }
  if (!isSettled(tape, read)) {
    return unread("waiting")
  }
  const whole = wholeEvents(events, { read, fromMs, isComplete: false })
  if (whole.unread.size > 0) {
    accounts.again(held.wallet)
  }
  return {
    events: whole.events,
    status: whole.unread.size > 0 ? "waiting" : "known",
    units: whole.units,
    isUnread: (mint) => whole.unread.has(mint)
  }
}

/** The positions after these events. Unlike `accounted`, the events may carry lots from other wallets of the owner. */
export const accountedPositions = (
  events: ReadonlyArray<EventOfMint>,
  { isUnread, units }: AccountedEvents
): ReadonlyArray<Position> =>
  Array.from(positionsAfter(events).values(), (position) => {
    const held = units?.get(position.mint)
    if (isUnread(position.mint)) {
      return unreadPosition(position)
    }
    return held === undefined ? position : settledPosition(position, held)
  })
