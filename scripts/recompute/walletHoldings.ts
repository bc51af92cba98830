/** Compares what a wallet holds, the first transfer to it and what its sales took with the chain. */
import type { Book } from "./book.ts"
import { nanosOf, usd, type WalletDifference } from "./compareWallets.ts"
import { call } from "./chain.ts"
import type { ListedAccount } from "./heldAccounts.ts"
import { SOL } from "./legs.ts"
import type { RawLotBook, RawMethod, RawSoldLot } from "./lots.ts"
import type { WalletEvent } from "./walletEvents.ts"

/** `data` of `/wallets/{wallet}/balances`, as far as it is compared. */
export interface ServiceBalances {
  readonly sol: { readonly lamports: string; readonly wrappedLamports: string }
  readonly tokens: ReadonlyArray<{ readonly mint: string; readonly amount: string }>
}

/** `data` of `/wallets/{wallet}/funded-by`, as far as it is compared. */
export interface ServiceFunding {
  readonly transfer: { readonly mint: string; readonly amount: string } | null
}

interface Compared {
  readonly figures: number
  readonly differences: ReadonlyArray<WalletDifference>
}

/** SOL of a wallet's own account in lamports, as the node has it now. */
export const lamportsAt = async (rpc: string, wallet: string): Promise<bigint> => {
  const { value } = (await call(rpc, "getBalance", [wallet])) as { readonly value: number }
  return BigInt(value)
}

/** Compares the units of every token and the SOL. */
export const compareBalances = (
  wallet: string,
  { sol, tokens }: ServiceBalances,
  listed: ReadonlyArray<ListedAccount>,
  lamports: bigint
): Compared => {
  const units = new Map<string, bigint>()
  listed.forEach((each) => units.set(each.mint, (units.get(each.mint) ?? 0n) + each.units))
  const given = new Map(tokens.map(({ amount, mint }) => [mint, amount]))
  const mints = new Set([...given.keys(), ...Array.from(units.keys()).filter((mint) => mint !== SOL)])
  const figures = [
    { mint: null, field: "lamports", service: sol.lamports, recomputed: String(lamports) },
    { mint: SOL, field: "wrapped lamports", service: sol.wrappedLamports, recomputed: String(units.get(SOL) ?? 0n) },
    ...Array.from(mints, (mint) => ({
      mint,
      field: "balance",
      service: given.get(mint) ?? "0",
      recomputed: String(units.get(mint) ?? 0n)
    }))
  ]
  return {
    figures: figures.length,
    differences: figures
      .filter(({ recomputed, service }) => recomputed !== service)
      .map((figure) => ({ wallet, ...figure }))
  }
}

/** The first transfer has to be a change of the wallet's balance without a trade in the blocks. */
export const compareFunding = (
  wallet: string,
  events: ReadonlyArray<WalletEvent>,
  { transfer }: ServiceFunding
): Compared => {
  if (transfer === null) {
    return { figures: 0, differences: [] }
  }
  const isFound = events.some(
    ({ after, before, mint, trades }) =>
      trades.length === 0 && mint === transfer.mint && String(after - before) === transfer.amount
  )
  const difference = {
    wallet,
    mint: transfer.mint,
    field: "first transfer",
    service: transfer.amount,
    recomputed: null
  }
  return { figures: 1, differences: isFound ? [] : [difference] }
}

/** A row of `/wallets/{wallet}/lots`, as far as it is compared. */
export interface ServiceLot {
  readonly mint: string
  readonly units: string
  readonly costUsd: string | null
  readonly proceedsUsd: string | null
  readonly gainUsd: string | null
}

/** How often each text occurs. */
const countsOf = (texts: ReadonlyArray<string>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  texts.forEach((text) => counts.set(text, (counts.get(text) ?? 0) + 1))
  return counts
}

const gainOf = ({ cost, proceeds }: RawSoldLot): bigint | null =>
  cost === null || proceeds === null ? null : proceeds - cost

const soldText = (mint: string, lot: RawSoldLot): string =>
  `${mint} ${lot.units} ${usd(lot.cost)} ${usd(lot.proceeds)} ${usd(gainOf(lot))}`

/** Compares each sold lot, and each open one, of a method by token, units, cost, proceeds and gain. */
export const compareMethod = (
  wallet: string,
  method: RawMethod,
  books: ReadonlyMap<string, RawLotBook>,
  { open, sold }: { readonly open: ReadonlyArray<ServiceLot>; readonly sold: ReadonlyArray<ServiceLot> }
): Compared => {
  const given = countsOf([
    ...sold.map(
      ({ costUsd, gainUsd, mint, proceedsUsd, units }) => `sold ${mint} ${units} ${costUsd} ${proceedsUsd} ${gainUsd}`
    ),
    ...open.map(({ costUsd, mint, units }) => `open ${mint} ${units} ${costUsd}`)
  ])
  const own = countsOf(
    Array.from(books).flatMap(([mint, book]) => [
      ...book.sold.map((lot) => `sold ${soldText(mint, lot)}`),
      ...book.open.map(({ cost, units }) => `open ${mint} ${units} ${usd(cost)}`)
    ])
  )
  const texts = Array.from(new Set([...given.keys(), ...own.keys()]))
  return {
    figures: texts.length,
    differences: texts
      .filter((text) => given.get(text) !== own.get(text))
      .map((text) => ({
        wallet,
        mint: text.split(" ")[1] ?? null,
        field: `${method}: ${text}`,
        service: String(given.get(text) ?? 0),
        recomputed: String(own.get(text) ?? 0)
      }))
  }
}

/** The known gains of the sold lots of each mint, by average cost, have to be the known realized profit of its position. */
export const compareLots = (wallet: string, book: Book, rows: ReadonlyArray<ServiceLot>): Compared => {
  const gains = new Map<string, bigint>()
  for (const { gainUsd, mint } of rows) {
    gains.set(mint, (gains.get(mint) ?? 0n) + (gainUsd === null ? 0n : nanosOf(gainUsd)))
  }
  const mints = new Set([...gains.keys(), ...book.keys()])
  const figures = Array.from(mints, (mint) => ({
    wallet,
    mint,
    field: "gain of the sold lots",
    service: usd(gains.get(mint) ?? 0n),
    recomputed: usd(book.get(mint)?.knownRealized ?? 0n)
  }))
  return {
    figures: figures.length,
    differences: figures.filter(({ recomputed, service }) => recomputed !== service)
  }
}
