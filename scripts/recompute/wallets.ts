/** Positions of all wallets from raw blocks, and their comparison with a service. */
import { addEvent, type Books, type RawPosition } from "./book.ts"
import type { RawBlock } from "./chain.ts"
import { compareWallet, type ServiceHistory, type ServicePositions, type WalletDifference } from "./compareWallets.ts"
import { legsOf, readTransaction } from "./legs.ts"
import { solSwapsOf } from "./record.ts"
import { makeSolPrice } from "./solPrice.ts"
import { eventsOf } from "./walletEvents.ts"

/** The books of a chain, and counts: of blocks, of events, of those that are transfers of a traded mint, of swaps of two tokens. */
export interface WalletReading {
  readonly books: Books
  /** The newest balance of every token account that was named, by owner and mint: the holdings of the chain. */
  readonly accounts: ReadonlyMap<string, ReadonlyMap<string, bigint>>
  readonly counts: { blocks: number; events: number; transfers: number; tokenSwaps: number }
}

/** A reading that has begun with no block. `add` takes them in order. */
export const makeReading = (): WalletReading & { readonly add: (block: RawBlock) => void } => {
  const books: Books = new Map()
  const accounts = new Map<string, Map<string, bigint>>()
  const counts = { blocks: 0, events: 0, transfers: 0, tokenSwaps: 0 }
  const price = makeSolPrice()
  const add = ({ blockTime, transactions }: RawBlock): void => {
    counts.blocks++
    const traded = transactions
      .filter(({ meta }) => meta.err === null)
      .map((raw) => readTransaction(raw))
      .map((read) => ({ read, legs: legsOf(read) }))
    price.add(traded.flatMap(({ legs }) => solSwapsOf(legs, blockTime)))
    const rate = price.at(blockTime)
    for (const { legs, read } of traded) {
      const { keys, raw } = read
      for (const { accountIndex, mint, owner, uiTokenAmount } of raw.meta.postTokenBalances) {
        const key = `${owner ?? ""} ${mint}`
        const held = accounts.get(key) ?? new Map<string, bigint>()
        accounts.set(key, held.set(keys[accountIndex] ?? "", BigInt(uiTokenAmount.amount)))
      }
      const events = eventsOf(read, legs, rate)
      events.forEach((event) => addEvent(books, event))
      counts.events += events.length
      counts.transfers += events.filter(
        ({ mint, trades, wallet }) => trades.length === 0 && books.get(wallet)?.has(mint) === true
      ).length
      counts.tokenSwaps +=
        new Set(events.filter(({ trades }) => trades.length > 0).map(({ mint }) => mint)).size > 1 ? 1 : 0
    }
  }
  return { books, accounts, counts, add }
}

const tradesIn = (positions: ReadonlyMap<string, RawPosition>) =>
  Array.from(positions.values()).reduce((sum, { buys, sells }) => sum + buys + sells, 0)

/** The wallets with most trades, at most so many. */
export const busiest = (books: Books, most: number): ReadonlyArray<string> => {
  return Array.from(books)
    .toSorted(([, a], [, b]) => tradesIn(b) - tradesIn(a))
    .slice(0, most)
    .map(([wallet]) => wallet)
}

/** Reads `data` of a path of the service. */
export type ReadService = (path: string) => Promise<unknown>

/** Compares a wallet with the service, and its holdings with the accounts of the chain. */
export const checkWallet = async (
  { accounts, books }: WalletReading,
  wallet: string,
  read: ReadService
): Promise<{ readonly figures: number; readonly differences: ReadonlyArray<WalletDifference> }> => {
  const positions = (await read(`/api/v1/wallets/${wallet}/positions?limit=500`)) as ServicePositions
  const history = (await read(`/api/v1/wallets/${wallet}/pnl/history?days=30`)) as ServiceHistory
  const compared = compareWallet(wallet, books.get(wallet) ?? new Map(), positions, history)
  const chain = positions.positions.map(({ holding, mint }): WalletDifference => {
    const held = Array.from(accounts.get(`${wallet} ${mint}`)?.values() ?? [])
    const sum = held.reduce((all, amount) => all + amount, 0n).toString()
    return { wallet, mint, field: "holding on the chain", service: holding, recomputed: sum }
  })
  return {
    figures: compared.figures + chain.length,
    differences: [...compared.differences, ...chain.filter(({ recomputed, service }) => service !== recomputed)]
  }
}
