/** The first buyers of a token with what they still hold, and which of them bought together. */
import { decimalText } from "../../domain/rational.ts"
import {
  COMPLETE,
  covered,
  type CoverageReason,
  incomplete,
  type Lifetime,
  type Scalar,
  unavailable
} from "../../domain/Scalar.ts"
import type { FirstBuyerRow, FirstBuyersSummary } from "../../api/schemas/FirstBuyers.ts"
import type { KnownHoldings } from "../../tokens/HolderReader.ts"
import { bundleOf } from "../../tokens/risk/signals.ts"
import type { LaunchRecord } from "../model/Launches.ts"
import { buyerOf, type FirstPurchases } from "./firstBuyers.ts"

/** What the shares of buyers are made of. */
export interface BuyerBasis {
  /** Supply in atomic units; null when unknown. */
  readonly supply: bigint | null
  /** What wallets hold, or why it is not known. */
  readonly holdings: KnownHoldings | CoverageReason
  /** Lifetime of a share that needs no holdings. */
  readonly life: Lifetime
}

const shareOf = (part: bigint, { supply }: BuyerBasis, life: Lifetime, lacking: CoverageReason | null): Scalar => {
  const text = supply === null || supply === 0n ? null : decimalText({ numerator: 100n * part, denominator: supply })
  return text === null
    ? unavailable("percent", "supply_unknown")
    : covered("percent", text, life, lacking === null ? COMPLETE : incomplete(lacking))
}

const heldShare = (part: bigint, basis: BuyerBasis): Scalar =>
  typeof basis.holdings === "string"
    ? unavailable("percent", basis.holdings)
    : shareOf(part, basis, basis.holdings.life, basis.holdings.lacking)

/** The values that occur more than once. */
const repeated = (values: ReadonlyArray<string>): ReadonlySet<string> => {
  const seen = new Set<string>()
  return new Set(values.filter((value) => seen.has(value) || !seen.add(value)))
}

/** A row of each purchase, with shares of the supply. A token has no holdings that are half known. */
export const buyerRows = (
  launch: LaunchRecord,
  trades: NonNullable<FirstPurchases["trades"]>,
  basis: BuyerBasis
): ReadonlyArray<FirstBuyerRow> => {
  const buyers = trades.map((trade) => buyerOf(launch, trade))
  const shared = repeated(trades.map(({ signature }) => signature))
  const atCreation = new Set(
    bundleOf(buyers.map(({ afterMs, trade: { slot }, wallet }) => ({ afterMs, slot, wallet }))).map(
      ({ wallet }) => wallet
    )
  )
  const { holdings } = basis
  return buyers.map((buyer, at): FirstBuyerRow => {
    const held = typeof holdings === "string" ? null : holdings.amountOf(buyer.wallet)
    const isSure = typeof holdings !== "string" && holdings.lacking === null
    return {
      ...buyer,
      rank: at + 1,
      boughtPct: shareOf(buyer.trade.legs.token.amount, basis, basis.life, null),
      heldAmount: held,
      heldPct: heldShare(held ?? 0n, basis),
      isHolding: isSure ? held !== 0n : null,
      bundle: shared.has(buyer.trade.signature)
        ? "transaction"
        : atCreation.has(buyer.wallet)
          ? "creation_slot"
          : "none"
    }
  })
}

const heldBy = (rows: ReadonlyArray<FirstBuyerRow>): bigint =>
  rows.reduce((sum, row) => sum + (row.heldAmount ?? 0n), 0n)

/** Rows in numbers. */
export const buyersSummary = (
  rows: ReadonlyArray<FirstBuyerRow>,
  hasMore: boolean,
  basis: BuyerBasis
): FirstBuyersSummary => {
  const bundled = rows.filter(({ bundle, isCreator }) => bundle !== "none" && isCreator !== true)
  const isSure = typeof basis.holdings !== "string" && basis.holdings.lacking === null
  const bought = rows.reduce((sum, { trade }) => sum + trade.legs.token.amount, 0n)
  return {
    buyers: rows.length,
    hasMore,
    holding: isSure ? rows.filter(({ isHolding }) => isHolding === true).length : null,
    boughtPct: shareOf(bought, basis, basis.life, null),
    heldPct: heldShare(heldBy(rows), basis),
    bundled: bundled.length,
    bundledHeldPct: heldShare(heldBy(bundled), basis)
  }
}
