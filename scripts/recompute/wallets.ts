/** Positions of all wallets from raw blocks, and their comparison with a service. */
import { type Book, type BookedEvent, booksOf } from "./book.ts"
import type { RawBlock } from "./chain.ts"
import {
  compareOrder,
  compareWallet,
  type ServiceHistory,
  type ServicePositions,
  type WalletDifference
} from "./compareWallets.ts"
import { firstUnits, type ListedAccount, NamedAccounts, sumsAround } from "./heldAccounts.ts"
import { type DatedLaunch, launchesOf } from "./launches.ts"
import { legsOf, readTransaction } from "./legs.ts"
import { openingsOf, type RawOpening } from "./openings.ts"
import { solSwapsOf } from "./record.ts"
import { LOT_METHODS, lotBooksOf } from "./lots.ts"
import { makeSolPrice } from "./solPrice.ts"
import { eventsOf, type WalletEvent } from "./walletEvents.ts"
import {
  compareBalances,
  compareFunding,
  compareLots,
  compareMethod,
  type ServiceBalances,
  type ServiceFunding,
  type ServiceLot
} from "./walletHoldings.ts"
import { compareResults, compareTrades, type ServiceResults, type ServiceTrade } from "./walletRows.ts"
import {
  checkTransfers,
  type RawTransfer,
  recordedOf,
  type TransferCounts,
  transfersOf,
  type WalletRecord
} from "./walletTransfers.ts"

/**
 * The events of wallets, the launches of tokens and the openings of wallets in the order of the chain, and counts: of blocks, of transactions, of events, of those that are transfers of a traded
 * mint, of those that leave another sum over the accounts they name than the wallet has, and of swaps of two tokens.
 */
export interface WalletReading {
  readonly events: ReadonlyMap<string, ReadonlyArray<WalletEvent>>
  readonly transfers: ReadonlyMap<string, ReadonlyArray<RawTransfer>>
  /** The slot of the first trade of each wallet, by mint. */
  readonly tradedSince: ReadonlyMap<string, ReadonlyMap<string, number>>
  readonly accounts: NamedAccounts
  readonly launches: ReadonlyArray<DatedLaunch>
  readonly openings: ReadonlyArray<RawOpening>
  readonly counts: {
    blocks: number
    transactions: number
    events: number
    transfers: number
    partial: number
    tokenSwaps: number
  }
}

/** A reading that has begun with no block. `add` takes them in order. */
export const makeReading = (): WalletReading & { readonly add: (block: RawBlock) => void } => {
  const byWallet = new Map<string, Array<WalletEvent>>()
  const transfers = new Map<string, Array<RawTransfer>>()
  const tradedSince = new Map<string, Map<string, number>>()
  const accounts = new NamedAccounts()
  const launches: Array<DatedLaunch> = []
  const openings: Array<RawOpening> = []
  const counts = { blocks: 0, transactions: 0, events: 0, transfers: 0, partial: 0, tokenSwaps: 0 }
  const price = makeSolPrice()
  const take = (event: WalletEvent, slot: number): void => {
    const { mint, trades, wallet } = event
    accounts.add(wallet, mint, event.accounts)
    const own = byWallet.get(wallet) ?? []
    byWallet.set(wallet, own)
    own.push(event)
    counts.events++
    const since = tradedSince.get(wallet) ?? new Map<string, number>()
    if (trades.length === 0) {
      counts.transfers += since.has(mint) ? 1 : 0
    } else if (!since.has(mint)) {
      tradedSince.set(wallet, since.set(mint, slot))
    }
    counts.partial += event.accounts.length < accounts.of(wallet, mint).size ? 1 : 0
  }
  const add = ({ blockTime, slot, transactions }: RawBlock): void => {
    counts.blocks++
    const read = transactions
      .filter(({ meta }) => meta.err === null)
      .map((raw) => readTransaction(raw))
      .map((each) => ({ read: each, legs: legsOf(each) }))
    price.add(read.flatMap(({ legs }) => solSwapsOf(legs, blockTime)))
    const rate = price.at(blockTime)
    for (const { legs, read: each } of read) {
      const events = eventsOf(each, legs, { rate, transaction: counts.transactions++ })
      events.forEach((event) => take(event, slot))
      for (const transfer of transfersOf(each, legs, events, { slot, second: blockTime })) {
        const own = transfers.get(transfer.wallet) ?? []
        transfers.set(transfer.wallet, own)
        own.push(transfer)
      }
      launches.push(...launchesOf(each).map((launch) => ({ ...launch, second: blockTime })))
      openings.push(...openingsOf(each, { slot, second: blockTime }))
      counts.tokenSwaps +=
        new Set(events.filter(({ trades }) => trades.length > 0).map(({ mint }) => mint)).size > 1 ? 1 : 0
    }
  }
  return { events: byWallet, transfers, tradedSince, accounts, launches, openings, counts, add }
}

const tradesIn = (events: ReadonlyArray<WalletEvent>) => events.reduce((sum, { trades }) => sum + trades.length, 0)

/** The wallets with most trades, at most so many. */
export const busiest = ({ events }: Pick<WalletReading, "events">, most: number): ReadonlyArray<string> =>
  Array.from(events, ([wallet, of]) => ({ wallet, trades: tradesIn(of) }))
    .filter(({ trades }) => trades > 0)
    .toSorted((a, b) => b.trades - a.trades)
    .slice(0, most)
    .map(({ wallet }) => wallet)

const recordOf = (
  { events, tradedSince, transfers }: Pick<WalletReading, "events" | "tradedSince" | "transfers">,
  wallet: string
): WalletRecord => ({
  transfers: transfers.get(wallet) ?? [],
  tradedSince: tradedSince.get(wallet) ?? new Map(),
  trades: tradesIn(events.get(wallet) ?? [])
})

/** The wallets with most transfers that a service lists, at most so many. */
export const moving = (reading: WalletReading, most: number): ReadonlyArray<string> =>
  Array.from(reading.transfers.keys(), (wallet) => ({ wallet, moves: recordedOf(recordOf(reading, wallet)).length }))
    .filter(({ moves }) => moves > 0)
    .toSorted((a, b) => b.moves - a.moves)
    .slice(0, most)
    .map(({ wallet }) => wallet)

/** Reads `data` and `meta` of a path of the service, and the cursor of the next page. */
export type ReadService = (
  path: string
) => Promise<{ readonly data: unknown; readonly meta?: unknown; readonly nextCursor?: string | null }>

/** All pages of a list. */
export const readPages = async (
  read: ReadService,
  path: string,
  rowsOf = (data: unknown) => data as ReadonlyArray<unknown>
): Promise<ReadonlyArray<unknown>> => {
  const rows: Array<unknown> = []
  for (let cursor: string | null | undefined = ""; typeof cursor === "string";) {
    const page = await read(cursor === "" ? path : `${path}&cursor=${cursor}`)
    rows.push(...rowsOf(page.data))
    cursor = page.nextCursor
  }
  return rows
}

/** Lists the token accounts of a wallet at the node. */
export type ListAccounts = (wallet: string) => Promise<ReadonlyArray<ListedAccount>>

/** The events of a wallet with its balances over all accounts, those listed included. */
const bookedEvents = (
  { accounts, events }: Pick<WalletReading, "accounts" | "events">,
  wallet: string,
  listed: ReadonlyArray<ListedAccount>
): ReadonlyArray<BookedEvent> => {
  const units = new Map<string, Map<string, bigint>>()
  return (events.get(wallet) ?? []).map((event) => {
    const held = units.get(event.mint) ?? firstUnits(accounts.of(wallet, event.mint), listed, event.mint)
    units.set(event.mint, held)
    return { ...event, ...sumsAround(held, event.accounts) }
  })
}

/** The positions of a wallet; `linked` are the other wallets of its owner, each with its token accounts. */
export const bookOf = (
  reading: Pick<WalletReading, "accounts" | "events">,
  wallet: string,
  listed: ReadonlyArray<ListedAccount>,
  linked: ReadonlyMap<string, ReadonlyArray<ListedAccount>> = new Map()
): Book => {
  const all = [[wallet, listed] as const, ...linked].flatMap(([each, of]) => bookedEvents(reading, each, of))
  return booksOf(all.toSorted((a, b) => a.transaction - b.transaction)).get(wallet) ?? new Map()
}

/** Reads of a check: `data` of a path of the service, the token accounts at the node, and other wallets of the same owner. */
export interface CheckReads {
  readonly read: ReadService
  readonly list: ListAccounts
  readonly lamportsOf: (wallet: string) => Promise<bigint>
  readonly linkedTo: (wallet: string) => ReadonlyArray<string>
}

/** Compares the transfers of a wallet with the service. */
export const checkMoves = (reading: WalletReading, wallet: string, read: ReadService) =>
  checkTransfers(wallet, recordOf(reading, wallet), async (path) => {
    let pages = 0
    const rows = await readPages((page) => (pages++, read(page)), path)
    return { pages, rows }
  })

/** Compares a wallet with the service, and its holdings with the accounts of the chain. */
export const checkWallet = async (
  reading: WalletReading,
  wallet: string,
  { lamportsOf, linkedTo, list, read }: CheckReads
): Promise<{
  readonly figures: number
  readonly differences: ReadonlyArray<WalletDifference>
  readonly transfers: TransferCounts
}> => {
  const positions = (await read(`/api/v1/wallets/${wallet}/positions?limit=500`)).data as ServicePositions
  const history = (await read(`/api/v1/wallets/${wallet}/pnl/history?days=30`)).data as ServiceHistory
  const performance = (await read(`/api/v1/wallets/${wallet}/performance`)).data as {
    readonly results: ServiceResults | null
  }
  const rows = (await readPages(read, `/api/v1/wallets/${wallet}/trades?limit=200`)) as ReadonlyArray<ServiceTrade>
  const balances = (await read(`/api/v1/wallets/${wallet}/balances?limit=500`)).data as ServiceBalances
  const funding = (await read(`/api/v1/wallets/${wallet}/funded-by`)).data as ServiceFunding
  const sold = (await readPages(read, `/api/v1/wallets/${wallet}/lots?limit=200`)) as ReadonlyArray<ServiceLot>
  const byMethod = await Promise.all(
    LOT_METHODS.map(async (method) => {
      const pages = (state: string) =>
        readPages(read, `/api/v1/wallets/${wallet}/lots?method=${method}&state=${state}&limit=200`) as Promise<
          ReadonlyArray<ServiceLot>
        >
      return { method, sold: await pages("sold"), open: await pages("open") }
    })
  )
  const byCost = await readPages(
    read,
    `/api/v1/wallets/${wallet}/positions?sort=cost&limit=10`,
    (data) => (data as ServicePositions).positions
  )
  const listed = await list(wallet)
  const linked = await Promise.all(linkedTo(wallet).map(async (other) => [other, await list(other)] as const))
  const book = bookOf(reading, wallet, listed, new Map(linked))
  const compared = compareWallet(wallet, book, positions, history)
  const trades = compareTrades(wallet, reading.events.get(wallet) ?? [], rows)
  const results = compareResults(wallet, book, performance.results)
  const lots = compareLots(wallet, book, sold)
  const booked = bookedEvents(reading, wallet, listed)
  const methods = byMethod.map(({ method, ...rows }) =>
    compareMethod(wallet, method, lotBooksOf(booked, method, book), rows)
  )
  const held = compareBalances(wallet, balances, listed, await lamportsOf(wallet))
  const funded = compareFunding(wallet, reading.events.get(wallet) ?? [], funding)
  const moved = await checkMoves(reading, wallet, read)
  const order = compareOrder(wallet, book, byCost as ServicePositions["positions"])
  const chain = positions.positions.map(({ holding, mint }): WalletDifference => {
    const sum = listed.filter((each) => each.mint === mint).reduce((all, each) => all + each.units, 0n)
    return { wallet, mint, field: "holding on the chain", service: holding, recomputed: sum.toString() }
  })
  return {
    transfers: moved.counts,
    figures:
      compared.figures +
      moved.figures +
      trades.figures +
      results.figures +
      order.figures +
      held.figures +
      funded.figures +
      methods.reduce((sum, { figures }) => sum + figures, 0) +
      chain.length,
    differences: [
      ...compared.differences,
      ...moved.differences,
      ...trades.differences,
      ...results.differences,
      ...order.differences,
      ...held.differences,
      ...lots.differences,
      ...methods.flatMap(({ differences }) => differences),
      ...funded.differences,
      ...chain.filter(({ recomputed, service }) => service !== recomputed)
    ]
  }
}

/** Pairs of wallets where one sent the other units of a mint that both had traded. No wallet is in two pairs. */
export const transferPairs = ({ events }: Pick<WalletReading, "events">): ReadonlyArray<readonly [string, string]> => {
  const all = Array.from(events.values()).flat()
  const begun = new Set<string>()
  const paired = new Set<string>()
  const pairs: Array<readonly [string, string]> = []
  for (const [, together] of Map.groupBy(
    all.toSorted((a, b) => a.transaction - b.transaction),
    ({ mint, transaction }) => `${transaction} ${mint}`
  )) {
    const moved = together.filter(({ mint, trades, wallet }) => trades.length === 0 && begun.has(`${wallet} ${mint}`))
    const [from, to] = [
      moved.find(({ after, before }) => after < before),
      moved.find(({ after, before }) => after > before)
    ]
    if (from !== undefined && to !== undefined && !paired.has(from.wallet) && !paired.has(to.wallet)) {
      paired.add(from.wallet).add(to.wallet)
      pairs.push([from.wallet, to.wallet])
    }
    together.filter(({ trades }) => trades.length > 0).forEach(({ mint, wallet }) => begun.add(`${wallet} ${mint}`))
  }
  return pairs
}
