/** Compares the trades and the results of a wallet with what raw blocks give. */
import type { Book } from "./book.ts"
import { usd, type WalletDifference } from "./compareWallets.ts"
import { SOL } from "./legs.ts"
import { DOLLARS } from "./record.ts"
import type { WalletEvent } from "./walletEvents.ts"

/** A row of `/wallets/{wallet}/trades`, as far as it is compared. */
export interface ServiceTrade {
  readonly side: "buy" | "sell"
  readonly volumeUsd: string | null
  readonly legs: { readonly token: { readonly mint: string; readonly amount: string } }
}

/** `results` of `/wallets/{wallet}/performance`, as far as they are compared. */
export interface ServiceResults {
  readonly positions: number
  readonly closed: number
  readonly known: number
  readonly won: number
  readonly lost: number
  readonly best: { readonly realized: string } | null
  readonly worst: { readonly realized: string } | null
}

/** Rows that the service holds of a wallet at most. With as many, older rows may be missing. */
const MOST_HELD = 10_000

const isMoney = (mint: string): boolean => mint === SOL || DOLLARS.includes(mint)

/** How often each text occurs. */
const countsOf = (texts: ReadonlyArray<string>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  texts.forEach((text) => counts.set(text, (counts.get(text) ?? 0) + 1))
  return counts
}

/** Compares each trade by token, side, units and value. Swaps of SOL for dollars make no position and are left out. */
export const compareTrades = (
  wallet: string,
  events: ReadonlyArray<WalletEvent>,
  rows: ReadonlyArray<ServiceTrade>
): { readonly figures: number; readonly differences: ReadonlyArray<WalletDifference> } => {
  if (rows.length >= MOST_HELD) {
    return { figures: 0, differences: [] }
  }
  const given = countsOf(
    rows.flatMap(({ legs: { token }, side, volumeUsd }) =>
      isMoney(token.mint) ? [] : [`${token.mint} ${side} ${token.amount} ${volumeUsd}`]
    )
  )
  const own = countsOf(
    events.flatMap(({ mint, trades }) =>
      trades.map(({ amount, isBuy, nanos }) => `${mint} ${isBuy ? "buy" : "sell"} ${amount} ${usd(nanos)}`)
    )
  )
  const texts = Array.from(new Set([...given.keys(), ...own.keys()]))
  const differences = texts
    .filter((text) => given.get(text) !== own.get(text))
    .map((text): WalletDifference => {
      const [service, recomputed] = [given.get(text) ?? 0, own.get(text) ?? 0].map(String)
      return {
        wallet,
        mint: text.split(" ")[0] ?? null,
        field: `trades: ${text}`,
        service: service ?? null,
        recomputed: recomputed ?? null
      }
    })
  return { figures: texts.length, differences }
}

/** Compares the counts, the best and the worst of the closed positions. */
export const compareResults = (
  wallet: string,
  book: Book,
  results: ServiceResults | null
): { readonly figures: number; readonly differences: ReadonlyArray<WalletDifference> } => {
  const positions = Array.from(book.values()).filter(({ buys, sells }) => buys + sells > 0)
  const closed = positions.filter(({ holding }) => holding === 0n)
  const known = closed.flatMap(({ realized }) => (realized === null ? [] : [realized]))
  const sorted = known.toSorted((a, b) => (a === b ? 0 : a < b ? -1 : 1))
  const figures: ReadonlyArray<readonly [string, string | null, string | null]> = [
    ["positions", String(results?.positions), String(positions.length)],
    ["closed", String(results?.closed), String(closed.length)],
    ["known", String(results?.known), String(known.length)],
    ["won", String(results?.won), String(known.filter((each) => each > 0n).length)],
    ["lost", String(results?.lost), String(known.filter((each) => each < 0n).length)],
    ["best", results?.best?.realized ?? null, usd(sorted.at(-1) ?? null)],
    ["worst", results?.worst?.realized ?? null, usd(sorted[0] ?? null)]
  ]
  const differences = figures
    .filter(([, service, recomputed]) => service !== recomputed)
    .map(([field, service, recomputed]) => ({ wallet, mint: null, field: `results.${field}`, service, recomputed }))
  return { figures: figures.length, differences }
}
