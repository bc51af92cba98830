/** Who opened wallets, whom they opened and what they launched, compared with a service. */
import type { WalletDifference } from "./compareWallets.ts"
import { compareLaunches, type ServiceLaunches } from "./launches.ts"
import { compareOpening, compareRelated, firstOpenings, type ServiceOpening, type ServiceRelated } from "./openings.ts"
import { readPages, type ReadService, type WalletReading } from "./wallets.ts"

type Origins = Pick<WalletReading, "launches" | "openings">

const mostOften = (wallets: ReadonlyArray<string>, most: number): ReadonlyArray<string> =>
  Array.from(Map.groupBy(wallets, (wallet) => wallet))
    .toSorted(([, a], [, b]) => b.length - a.length)
    .slice(0, most)
    .map(([wallet]) => wallet)

/** At most `most` wallets of each kind: those with most launches, those that opened most wallets, and the last ones opened. */
export const originsOf = ({ launches, openings }: Origins, most: number): ReadonlyArray<string> =>
  Array.from(
    new Set([
      ...mostOften(
        launches.flatMap(({ creator }) => creator ?? []),
        most
      ),
      ...mostOften(
        openings.map(({ funder }) => funder),
        most
      ),
      ...openings.map(({ wallet }) => wallet).slice(-most)
    ])
  )

/** Compares the opening of a wallet, its related wallets and its launches with the service. */
export const checkOrigins = async (
  { launches, openings }: Origins,
  wallet: string,
  read: ReadService
): Promise<{ readonly figures: number; readonly differences: ReadonlyArray<WalletDifference> }> => {
  const of = `/api/v1/wallets/${wallet}`
  const first = firstOpenings(openings)
  const { opening } = (await read(`${of}/funded-by`)).data as { readonly opening: ServiceOpening | null }
  const compared = [compareOpening(wallet, first, opening)]
  for (const relation of ["shared_funder", "funded"]) {
    const path = `${of}/related?relation=${relation}&limit=200`
    const { meta } = await read(path)
    const rows = (await readPages(read, path)) as ServiceRelated["rows"]
    compared.push(compareRelated(wallet, relation, first, { ...(meta as Omit<ServiceRelated, "rows">), rows }))
  }
  const { meta } = await read(`${of}/launches?limit=100`)
  const rows = (await readPages(read, `${of}/launches?limit=100`)) as ServiceLaunches["rows"]
  compared.push(compareLaunches(wallet, launches, { ...(meta as Pick<ServiceLaunches, "sums">), rows }))
  return {
    figures: compared.reduce((sum, { figures }) => sum + figures, 0),
    differences: compared.flatMap(({ differences }) => differences)
  }
}
