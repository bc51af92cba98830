/** The figures of a token's holders, from the table of its owners. */
import type { Address } from "../../domain/Address.ts"
import type { HolderFigures, HolderRow } from "../../api/schemas/TokenHolders.ts"
import { decimalText } from "../../domain/rational.ts"
import { COMPLETE, type Coverage, covered, incomplete, type Scalar, unavailable } from "../../domain/Scalar.ts"
import type { HoldersRequest, KnownHoldings } from "../../tokens/HolderReader.ts"
import type { HolderTable, Holding } from "./HolderTable.ts"
import type { OwnerKinds } from "./ownerKinds.ts"

/** The numbers of owners behind the two concentrations. */
export const TOP = 10
export const WIDE_TOP = 50

const sumOf = (holdings: ReadonlyArray<Holding>): bigint => holdings.reduce((sum, { amount }) => sum + amount, 0n)

export const percentOf = (part: bigint, total: bigint): string | null =>
  total === 0n ? null : decimalText({ numerator: 100n * part, denominator: total })

/** The holdings of a table, and whether they are complete. */
export const holdingsOf = (
  table: HolderTable,
  { coverage, kinds }: OwnerKinds,
  { lacking, life, slot }: Pick<KnownHoldings, "lacking" | "life" | "slot">
): KnownHoldings => {
  let wallets: ReadonlyArray<Holding> | null = null
  return {
    total: table.total,
    holders: table.size,
    amountOf: (owner: Address) => table.amountOf(owner),
    largest: (count) => sumOf((wallets ??= table.largest(WIDE_TOP, kinds.keys())).slice(0, count)),
    poolCoverage: coverage,
    life,
    slot,
    lacking
  }
}

/** The number of holders. */
export const countScalar = ({ holders, lacking, life }: KnownHoldings): Scalar =>
  covered("count", String(holders), life, lacking === null ? COMPLETE : incomplete(lacking))

/** A share of what all owners hold, in percent; unknown when nothing is held. */
export const shareScalar = (
  { lacking, life, total }: KnownHoldings,
  part: bigint,
  coverage: Coverage = COMPLETE
): Scalar => {
  const percent = percentOf(part, total)
  return percent === null
    ? unavailable("percent", lacking ?? "supply_unknown")
    : covered("percent", percent, life, lacking === null ? coverage : incomplete(lacking))
}

/** The figures of a token whose accounts were read. */
export const holderFigures = (
  table: HolderTable,
  owners: OwnerKinds,
  holdings: KnownHoldings,
  { after, limit }: Pick<HoldersRequest, "after" | "limit">,
  describe: (owner: Address) => Pick<HolderRow, "observed" | "tags">
): HolderFigures => {
  const { kinds } = owners
  const excluded = Array.from(kinds.keys()).reduce((sum, owner) => sum + table.amountOf(owner), 0n)
  return {
    state: "followed",
    retryAfterMs: null,
    slot: holdings.slot,
    holders: countScalar(holdings),
    heldAmount: table.total,
    top10Pct: shareScalar(holdings, holdings.largest(TOP), owners.coverage),
    top50Pct: shareScalar(holdings, holdings.largest(WIDE_TOP), owners.coverage),
    excludedPct: shareScalar(holdings, excluded, owners.coverage),
    top: table.largest(limit, [], after).map(({ amount, owner }) => ({
      owner,
      amount,
      sharePct: percentOf(amount, table.total),
      kind: kinds.get(owner) ?? "owner",
      ...describe(owner)
    }))
  }
}
