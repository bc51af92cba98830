/** Transfers between wallets of one owner: the cost of the units goes with them. Pure. */
import type { Address, Mint } from "../domain/Address.ts"
import {
  addEvent,
  beginsPosition,
  type Draft,
  emptyPosition,
  type EventOfMint,
  type MintEvent,
  unexplained
} from "./ledger.ts"
import { addLots, type Lots, NO_LOTS, takeLots, unitsOf } from "./lots.ts"

/** The trades of a wallet in one mint in one transaction, or a transfer of it. */
export interface PositionEvent extends MintEvent {
  readonly mint: Mint
}

/** An event of one wallet. */
export interface WalletEvent<E extends MintEvent> {
  readonly wallet: Address
  readonly event: E
}

/** Events of one transaction, for a wallet and other wallets of its owner. */
export type OwnerEvents = ReadonlyArray<WalletEvent<PositionEvent>>

/** Senders before receivers, otherwise in the given order. */
const sendersFirst = <E extends MintEvent>(events: ReadonlyArray<WalletEvent<E>>): ReadonlyArray<WalletEvent<E>> => [
  ...events.filter(({ event }) => unexplained(event) <= 0n),
  ...events.filter(({ event }) => unexplained(event) > 0n)
]

/**
 * Applies the events of one owner's wallets in one transaction. `add` applies an event and returns the lots sent. These
 * lots go to the later receivers of the mint, in proportion.
 */
export const passLots = <E extends PositionEvent>(
  together: ReadonlyArray<WalletEvent<E>>,
  add: (wallet: Address, event: E) => Lots
): void => {
  const sent = new Map<Mint, Lots>()
  for (const { event, wallet } of sendersFirst(together)) {
    const { mint } = event
    const pool = takeLots(sent.get(mint) ?? NO_LOTS, leastOf(unexplained(event), sent.get(mint)))
    const lots = add(wallet, unitsOf(pool.taken) === 0n ? event : { ...event, arrived: pool.taken })
    sent.set(mint, addLots(pool.left, lots))
  }
}

/** Positions of wallets by their mints. A position begins with a trade, or with lots of the same owner. */
export class OwnerPositions {
  readonly #positions = new Map<string, Draft>()
  readonly #most: number

  /** Holds at most `most` positions. Positions that changed the longest ago are dropped first. */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most
  }

  /** Applies the next event, and returns the lots sent. */
  add(wallet: Address, event: PositionEvent): Lots {
    const key = `${wallet} ${event.mint}`
    const known = this.#positions.get(key)
    if (known === undefined && !beginsPosition(event)) {
      return NO_LOTS
    }
    const draft: Draft = known ?? emptyPosition(event.mint)
    this.#positions.delete(key)
    this.#positions.set(key, draft)
    const [oldest] = this.#positions.keys()
    if (this.#positions.size > this.#most && oldest !== undefined) {
      this.#positions.delete(oldest)
    }
    return addEvent(draft, event)
  }
}

/**
 * The events of a wallet, with the lots that came from other wallets of its owner in the same transaction. `events`
 * holds the events of each of these wallets, this one included. Units that a wallet sent go to the receivers in
 * proportion, as a sale takes them. Units that did not arrive take their cost away.
 */
export const linkedEvents = (
  wallet: Address,
  events: ReadonlyMap<Address, ReadonlyArray<EventOfMint>>
): ReadonlyArray<EventOfMint> => {
  const all = Array.from(events)
    .flatMap(([owned, of]) => of.map((event): WalletEvent<EventOfMint> => ({ wallet: owned, event })))
    .toSorted((a, b) => a.event.slot - b.event.slot || a.event.index - b.event.index)
  const positions = new OwnerPositions()
  const own: Array<EventOfMint> = []
  for (const [, together] of Map.groupBy(all, ({ event }) => event.signature)) {
    passLots(together, (owned, event) => {
      if (owned === wallet) {
        own.push(event)
      }
      return positions.add(owned, event)
    })
  }
  return own
}

/** The part of an arrival that the sent lots cover; zero for other events. */
const leastOf = (arrived: bigint, pool: Lots = NO_LOTS): bigint => {
  const units = unitsOf(pool)
  return arrived <= 0n ? 0n : arrived < units ? arrived : units
}
