/** Transfers between wallets of one owner: the cost of the units goes with them. Pure. */
import type { Address, Mint } from "../domain/Address.ts"
import { addEvent, beginsPosition, type Draft, emptyPosition, type EventOfMint, unexplained } from "./ledger.ts"
import { addLots, type Lots, NO_LOTS, takeLots, unitsOf } from "./lots.ts"

interface WalletEvent {
  readonly wallet: Address
  readonly event: EventOfMint
}

/** Senders before receivers, in the order given. */
const sendersFirst = (events: ReadonlyArray<WalletEvent>): ReadonlyArray<WalletEvent> => [
  ...events.filter(({ event }) => unexplained(event) <= 0n),
  ...events.filter(({ event }) => unexplained(event) > 0n)
]

/**
 * The events of a wallet, with the lots that came from other wallets of its owner in the same transaction; `events` are those
 * of each of them, the wallet included. Units that a wallet sent go to the receivers in proportion, as a sale takes them; those
 * that did not arrive take their cost away.
 */
export const linkedEvents = (
  wallet: Address,
  events: ReadonlyMap<Address, ReadonlyArray<EventOfMint>>
): ReadonlyArray<EventOfMint> => {
  const all = Array.from(events)
    .flatMap(([owned, of]) => of.map((event): WalletEvent => ({ wallet: owned, event })))
    .toSorted((a, b) => a.event.slot - b.event.slot || a.event.index - b.event.index)
  const positions = new Map<string, Draft>()
  const own: Array<EventOfMint> = []
  for (const [, together] of Map.groupBy(all, ({ event }) => event.signature)) {
    const sent = new Map<Mint, Lots>()
    for (const each of sendersFirst(together)) {
      const { mint } = each.event
      const pool = takeLots(sent.get(mint) ?? NO_LOTS, leastOf(unexplained(each.event), sent.get(mint)))
      sent.set(mint, pool.left)
      const event = unitsOf(pool.taken) === 0n ? each.event : { ...each.event, arrived: pool.taken }
      if (each.wallet === wallet) {
        own.push(event)
      }
      const key = `${each.wallet} ${mint}`
      const known = positions.get(key)
      if (known !== undefined || beginsPosition(event)) {
        const draft: Draft = known ?? emptyPosition(mint)
        positions.set(key, draft)
        sent.set(mint, addLots(pool.left, addEvent(draft, event)))
      }
    }
  }
  return own
}

/** Units of an arrival that the pool has; none for other events. */
const leastOf = (arrived: bigint, pool: Lots = NO_LOTS): bigint => {
  const units = unitsOf(pool)
  return arrived <= 0n ? 0n : arrived < units ? arrived : units
}
