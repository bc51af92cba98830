/** Positions of all wallets from raw blocks, and their comparison with a service. */
import { bookOf } from "./book.ts"
import type { RawBlock } from "./chain.ts"
import { compareWallet, type ServiceHistory, type ServicePositions, type WalletDifference } from "./compareWallets.ts"
import { firstUnits, type ListedAccount, NamedAccounts, sumsAround } from "./heldAccounts.ts"
import { legsOf, readTransaction } from "./legs.ts"
import { solSwapsOf } from "./record.ts"
import { makeSolPrice } from "./solPrice.ts"
import { eventsOf, type WalletEvent } from "./walletEvents.ts"

/**
 * The events of wallets in the order of the chain, and counts: of blocks, of events, of those that are transfers of a traded
 * mint, of those that leave another sum over the accounts they name than the wallet has, and of swaps of two tokens.
 */
export interface WalletReading {
  readonly events: ReadonlyMap<string, ReadonlyArray<WalletEvent>>
  readonly accounts: NamedAccounts
  readonly counts: { blocks: number; events: number; transfers: number; partial: number; tokenSwaps: number }
}

/** A reading that has begun with no block. `add` takes them in order. */
export const makeReading = (): WalletReading & { readonly add: (block: RawBlock) => void } => {
  const byWallet = new Map<string, Array<WalletEvent>>()
  const traded = new Set<string>()
  const accounts = new NamedAccounts()
  const counts = { blocks: 0, events: 0, transfers: 0, partial: 0, tokenSwaps: 0 }
  const price = makeSolPrice()
  const take = (event: WalletEvent): void => {
    const { mint, trades, wallet } = event
    accounts.add(wallet, mint, event.accounts)
    const own = byWallet.get(wallet) ?? []
    byWallet.set(wallet, own)
    own.push(event)
    counts.events++
    if (trades.length > 0) {
      traded.add(`${wallet} ${mint}`)
    } else if (traded.has(`${wallet} ${mint}`)) {
      counts.transfers++
    }
    counts.partial += event.accounts.length < accounts.of(wallet, mint).size ? 1 : 0
  }
  const add = ({ blockTime, transactions }: RawBlock): void => {
    counts.blocks++
    const read = transactions
      .filter(({ meta }) => meta.err === null)
      .map((raw) => readTransaction(raw))
      .map((each) => ({ read: each, legs: legsOf(each) }))
    price.add(read.flatMap(({ legs }) => solSwapsOf(legs, blockTime)))
    const rate = price.at(blockTime)
    for (const { legs, read: each } of read) {
      const events = eventsOf(each, legs, rate)
      events.forEach(take)
      counts.tokenSwaps +=
        new Set(events.filter(({ trades }) => trades.length > 0).map(({ mint }) => mint)).size > 1 ? 1 : 0
    }
  }
  return { events: byWallet, accounts, counts, add }
}

const tradesIn = (events: ReadonlyArray<WalletEvent>) => events.reduce((sum, { trades }) => sum + trades.length, 0)

/** The wallets with most trades, at most so many. */
export const busiest = ({ events }: Pick<WalletReading, "events">, most: number): ReadonlyArray<string> =>
  Array.from(events, ([wallet, of]) => ({ wallet, trades: tradesIn(of) }))
    .filter(({ trades }) => trades > 0)
    .toSorted((a, b) => b.trades - a.trades)
    .slice(0, most)
    .map(({ wallet }) => wallet)

/** Reads `data` of a path of the service. */
export type ReadService = (path: string) => Promise<unknown>

/** Lists the token accounts of a wallet at the node. */
export type ListAccounts = (wallet: string) => Promise<ReadonlyArray<ListedAccount>>

/** Compares a wallet with the service, and its holdings with the accounts of the chain. */
export const checkWallet = async (
  { accounts, events }: WalletReading,
  wallet: string,
  read: ReadService,
  list: ListAccounts
): Promise<{ readonly figures: number; readonly differences: ReadonlyArray<WalletDifference> }> => {
  const positions = (await read(`/api/v1/wallets/${wallet}/positions?limit=500`)) as ServicePositions
  const history = (await read(`/api/v1/wallets/${wallet}/pnl/history?days=30`)) as ServiceHistory
  const listed = await list(wallet)
  const units = new Map<string, Map<string, bigint>>()
  const book = bookOf(events.get(wallet) ?? [], ({ accounts: changes, mint }) => {
    const held = units.get(mint) ?? firstUnits(accounts.of(wallet, mint), listed, mint)
    units.set(mint, held)
    return sumsAround(held, changes)
  })
  const compared = compareWallet(wallet, book, positions, history)
  const chain = positions.positions.map(({ holding, mint }): WalletDifference => {
    const sum = listed.filter((each) => each.mint === mint).reduce((all, each) => all + each.units, 0n)
    return { wallet, mint, field: "holding on the chain", service: holding, recomputed: sum.toString() }
  })
  return {
    figures: compared.figures + chain.length,
    differences: [...compared.differences, ...chain.filter(({ recomputed, service }) => service !== recomputed)]
  }
}
