/** Transfers of wallets from raw transactions, and the comparison of `/wallets/{wallet}/transfers` with them. */
import type { WalletDifference } from "./compareWallets.ts"
import type { RawLeg, ReadTransaction } from "./legs.ts"
import type { WalletEvent } from "./walletEvents.ts"

/** The net change of a wallet's units of one mint over a transaction in which it did not trade the mint. */
export interface RawTransfer {
  /** Place of the transaction among those that were read. */
  readonly transaction: number
  readonly signature: string
  readonly slot: number
  readonly second: number
  readonly wallet: string
  readonly mint: string
  readonly decimals: number
  /** Above zero for what came in. */
  readonly change: bigint
  /** The one owner that sent all of it or got all of it; null when there is none. */
  readonly other: string | null
}

/** The transfers of a wallet, the slot of its first trade in each mint, and how many trades it has. */
export interface WalletRecord {
  readonly transfers: ReadonlyArray<RawTransfer>
  readonly tradedSince: ReadonlyMap<string, number>
  readonly trades: number
}

/** A row of `/wallets/{wallet}/transfers`. */
export interface ServiceTransfer {
  readonly id: string
  readonly signature: string
  readonly slot: number
  readonly timeMs: number
  readonly direction: "in" | "out"
  readonly from: string | null
  readonly to: string | null
  readonly mint: string
  readonly amount: string
  readonly decimals: number | null
}

/** Trades and transfers that the service holds of a wallet at most. With as many, older ones may be missing. */
const MOST_HELD = 10_000
/** A list is asked for in about so many pages, however long it is. */
const PAGES_OF_A_LIST = 4
/** The most rows of a page. */
const MOST_OF_A_PAGE = 200
/** Tokens of a wallet whose transfers are asked for alone. */
const MOST_MINTS = 3

/**
 * The owner at the other end of every transfer of a mint that a wallet sent or got outside of swaps. Null with several
 * owners, and when the transfers do not add up to the change: then a swap, a mint, a burn or a fee had a part in it.
 */
const otherEndOf = (
  { holders, transfers }: ReadTransaction,
  swapped: ReadonlySet<number>,
  { change, mint, wallet }: Pick<RawTransfer, "change" | "mint" | "wallet">
): string | null => {
  const ownerOf = (account: string) => holders.get(account)?.owner ?? account
  const own = transfers
    .filter(({ destination, outer, source }) => {
      const moved = holders.get(source)?.mint ?? holders.get(destination)?.mint
      return moved === mint && !swapped.has(outer)
    })
    .map(({ amount, destination, source }) => ({ amount, from: ownerOf(source), to: ownerOf(destination) }))
    .filter(({ from, to }) => (from === wallet) !== (to === wallet))
  const others = new Set(own.map(({ from, to }) => (from === wallet ? to : from)))
  const sum = own.reduce((all, { amount, to }) => all + (to === wallet ? amount : -amount), 0n)
  const [other = null] = others
  return others.size === 1 && sum === change ? other : null
}

/**
 * The transfers among the events of a transaction. Pools are left out: owners that did not sign a transaction with swaps,
 * and got one token while they gave another.
 */
export const transfersOf = (
  read: ReadTransaction,
  legs: ReadonlyArray<RawLeg>,
  events: ReadonlyArray<WalletEvent>,
  { second, slot }: { readonly slot: number; readonly second: number }
): ReadonlyArray<RawTransfer> => {
  const { meta, transaction } = read.raw
  const swapped = new Set(legs.map(({ outer }) => outer))
  const balances = [...meta.preTokenBalances, ...meta.postTokenBalances]
  const growth = new Map<string, Set<boolean>>()
  const byOwner = new Map<string, bigint>()
  for (const [sign, list] of [[-1n, meta.preTokenBalances] as const, [1n, meta.postTokenBalances] as const]) {
    for (const { mint, owner = "", uiTokenAmount } of list) {
      const key = `${owner} ${mint}`
      byOwner.set(key, (byOwner.get(key) ?? 0n) + sign * BigInt(uiTokenAmount.amount))
    }
  }
  for (const [key, change] of byOwner) {
    const owner = key.slice(0, key.indexOf(" "))
    if (change !== 0n) {
      growth.set(owner, (growth.get(owner) ?? new Set()).add(change > 0n))
    }
  }
  const isPool = (owner: string) =>
    legs.length > 0 &&
    !read.signers.includes(owner) &&
    (growth.get(owner)?.size === 2 || legs.some(({ pool }) => pool === owner))
  return events
    .filter(({ after, before, trades, wallet }) => trades.length === 0 && after !== before && !isPool(wallet))
    .map(({ after, before, mint, transaction: place, wallet }) => {
      const change = after - before
      return {
        transaction: place,
        signature: transaction.signatures[0] ?? "",
        slot,
        second,
        wallet,
        mint,
        decimals: balances.find((balance) => balance.mint === mint)?.uiTokenAmount.decimals ?? 0,
        change,
        other: otherEndOf(read, swapped, { change, mint, wallet })
      }
    })
}

/**
 * The transfers that a service has to list, newest first: those of each mint from the block of the wallet's first trade in it
 * on, and all of them from `followedSince` on.
 */
export const recordedOf = (
  { tradedSince, transfers }: Pick<WalletRecord, "tradedSince" | "transfers">,
  followedSince = Infinity
): ReadonlyArray<RawTransfer> =>
  transfers.filter(({ mint, slot }) => slot >= Math.min(followedSince, tradedSince.get(mint) ?? Infinity)).toReversed()

/**
 * The slot from which on a service kept every transfer of a wallet, because somebody tracks the wallet: its first row of a mint
 * that the wallet had not traded. Infinite without such a row.
 */
const followedSinceOf = (rows: ReadonlyArray<ServiceTransfer>, tradedSince: ReadonlyMap<string, number>): number =>
  rows
    .filter(({ mint, slot }) => slot < (tradedSince.get(mint) ?? Infinity))
    .reduce((first, { slot }) => Math.min(first, slot), Infinity)

/** What is asked for. Times are Unix seconds: `from` is included, `to` is not. */
interface Asked {
  readonly mint?: string | undefined
  readonly direction?: "in" | "out" | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
}

const passes =
  ({ direction, from = 0, mint, to = Infinity }: Asked) =>
  (transfer: RawTransfer): boolean =>
    (mint === undefined || transfer.mint === mint) &&
    (direction === undefined || transfer.change > 0n === (direction === "in")) &&
    transfer.second >= from &&
    transfer.second < to

/**
 * Each side, the tokens with most transfers, the middle half of the time, and that half of one token and side. The
 * ends of the half are times of transfers, so that rows at both ends are asked for.
 */
const questionsOf = (transfers: ReadonlyArray<RawTransfer>): ReadonlyArray<Asked> => {
  const mints = Array.from(Map.groupBy(transfers, ({ mint }) => mint))
    .toSorted(([, a], [, b]) => b.length - a.length)
    .slice(0, MOST_MINTS)
    .map(([mint]) => mint)
  const at = (part: number) => transfers[Math.floor(transfers.length * part)]?.second
  const half = { from: at(3 / 4), to: at(1 / 4) }
  const [mint] = mints
  return [
    { direction: "in" },
    { direction: "out" },
    ...mints.map((each) => ({ mint: each })),
    ...(half.from === undefined || half.to === undefined || half.from >= half.to
      ? []
      : [half, { from: half.from }, { to: half.to }, { ...half, direction: "in" as const }, { ...half, mint }])
  ]
}

const pathOf = (wallet: string, asked: Asked, rows: number): string => {
  const limit = Math.min(MOST_OF_A_PAGE, Math.ceil((rows + 1) / PAGES_OF_A_LIST))
  const query = Object.entries({ ...asked, limit }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`]
  )
  return `/api/v1/wallets/${wallet}/transfers?${query.join("&")}`
}

const serviceText = ({ amount, decimals, direction, from, mint, signature, slot, timeMs, to }: ServiceTransfer) =>
  [slot, timeMs, signature, direction, mint, amount, decimals, from, to].join(" ")

const recomputedText = ({ change, decimals, mint, other, second, signature, slot, wallet }: RawTransfer) =>
  change > 0n
    ? [slot, second * 1000, signature, "in", mint, change, decimals, other, wallet].join(" ")
    : [slot, second * 1000, signature, "out", mint, -change, decimals, wallet, other].join(" ")

/** Texts with the rows of each transaction in order of their text: the blocks do not say which of them is the newer. */
const inOrder = <Row extends { readonly signature: string }>(
  rows: ReadonlyArray<Row>,
  textOf: (row: Row) => string
): ReadonlyArray<string> =>
  rows
    .reduce<Array<Array<Row>>>((groups, row) => {
      const last = groups.at(-1)
      if (last?.[0]?.signature === row.signature) {
        last.push(row)
      } else {
        groups.push([row])
      }
      return groups
    }, [])
    .flatMap((group) => group.map(textOf).toSorted())

/** Compares the rows of one answer, in their order, with the transfers that pass. No row may be listed twice. */
export const compareTransfers = (
  wallet: string,
  asked: Asked,
  transfers: ReadonlyArray<RawTransfer>,
  rows: ReadonlyArray<ServiceTransfer>
): { readonly figures: number; readonly differences: ReadonlyArray<WalletDifference> } => {
  const given = inOrder(rows, serviceText)
  const own = inOrder(transfers.filter(passes(asked)), recomputedText)
  const name = `transfers ${JSON.stringify(asked)}`
  const figures = [
    { field: `${name} ids`, service: String(new Set(rows.map(({ id }) => id)).size), recomputed: String(own.length) },
    ...Array.from({ length: Math.max(given.length, own.length) }, (_, place) => ({
      field: `${name} place ${place + 1}`,
      service: given[place] ?? null,
      recomputed: own[place] ?? null
    }))
  ]
  return {
    figures: figures.length,
    differences: figures
      .filter(({ recomputed, service }) => recomputed !== service)
      .map((figure) => ({ wallet, mint: asked.mint ?? null, ...figure }))
  }
}

/** What was compared: lists with all their pages, their rows, and the rows that name both ends. */
export interface TransferCounts {
  lists: number
  pages: number
  rows: number
  named: number
}

export const noTransfers = (): TransferCounts => ({ lists: 0, pages: 0, rows: 0, named: 0 })

/** Reads all pages of a list, and counts them. */
type ReadAll = (path: string) => Promise<{ readonly rows: ReadonlyArray<unknown>; readonly pages: number }>

/** Asks for the transfers of a wallet by time, token and side, over all pages, and compares every row. */
export const checkTransfers = async (
  wallet: string,
  record: WalletRecord,
  read: ReadAll
): Promise<{
  readonly counts: TransferCounts
  readonly figures: number
  readonly differences: ReadonlyArray<WalletDifference>
}> => {
  const counts = noTransfers()
  const differences: Array<WalletDifference> = []
  let figures = 0
  let recorded = recordedOf(record)
  const ask = async (asked: Asked) => {
    const { pages, rows } = await read(pathOf(wallet, asked, recorded.filter(passes(asked)).length))
    counts.lists++
    counts.pages += pages
    return rows as ReadonlyArray<ServiceTransfer>
  }
  const compare = (asked: Asked, rows: ReadonlyArray<ServiceTransfer>) => {
    const compared = compareTransfers(wallet, asked, recorded, rows)
    counts.rows += rows.length
    counts.named += rows.filter(({ from, to }) => from !== null && to !== null).length
    figures += compared.figures
    differences.push(...compared.differences)
  }
  if (recorded.length + record.trades < MOST_HELD) {
    const all = await ask({})
    recorded = recordedOf(record, followedSinceOf(all, record.tradedSince))
    compare({}, all)
    for (const asked of questionsOf(recorded)) {
      compare(asked, await ask(asked))
    }
  }
  return { counts, figures, differences }
}
