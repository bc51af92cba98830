/** Measured signals about a token, from its holders, its launch and its LP tokens. Unknown stays unknown. */
import type { Address, Mint } from "../../domain/Address.ts"
import { decimalText } from "../../domain/rational.ts"
import {
  asOf,
  COMPLETE,
  type Coverage,
  covered,
  type CoverageReason,
  incomplete,
  type Lifetime,
  type Scalar,
  unavailable
} from "../../domain/Scalar.ts"
import { type RiskSignal, type SignalCode, type SignalProof } from "../../api/schemas/TokenSignals.ts"
import type { KnownHoldings } from "../HolderReader.ts"
import type { FirstPurchase, TokenLaunch } from "./LaunchReader.ts"

/** Threshold in percent and weight of each signal. */
const terms: Readonly<Record<SignalCode, { readonly least: bigint; readonly severity: RiskSignal["severity"] }>> = {
  top10_concentration: { least: 30n, severity: "warning" },
  top50_concentration: { least: 60n, severity: "info" },
  creator_share: { least: 5n, severity: "warning" },
  bundled_buyers: { least: 5n, severity: "warning" },
  lp_not_burnt: { least: 5n, severity: "warning" }
}

/** The LP tokens of the largest pool of a token. */
export interface LpHoldings {
  readonly pool: Address
  readonly mint: Mint
  readonly issued: bigint
  /** Supply of the mint. Burnt tokens are already subtracted. */
  readonly supply: bigint
  readonly slot: number
  readonly life: Lifetime
  /** Why another pool may be larger; null when this pool is certainly the largest. */
  readonly lacking: CoverageReason | null
}

/** Observations of a token. An unknown one is replaced by the reason. */
export interface SignalSources {
  readonly holdings: KnownHoldings | CoverageReason
  readonly launch: TokenLaunch
  readonly lp: LpHoldings | CoverageReason
}

interface Measured {
  readonly measure: Scalar
  readonly source: RiskSignal["source"]
  readonly proof: SignalProof | null
}

const unknown = (reason: CoverageReason): Measured => ({
  measure: unavailable("percent", reason),
  source: "none",
  proof: null
})

/** Part of the whole in percent, with 15 digits; unknown when the whole is zero. */
const percentOf = (part: bigint, total: bigint, life: Lifetime, coverage: Coverage): Scalar => {
  const text = total === 0n ? null : decimalText({ numerator: 100n * part, denominator: total })
  return text === null ? unavailable("percent", "supply_unknown") : covered("percent", text, life, coverage)
}

const held = (
  { lacking, life, slot, total }: KnownHoldings,
  part: bigint,
  coverage: Coverage,
  proof: Partial<SignalProof> = {}
): Measured => ({
  measure: percentOf(part, total, life, lacking === null ? coverage : incomplete(lacking)),
  source: "token-accounts",
  proof: { slot, part, total, addresses: [], signatures: [], ...proof }
})

const concentration = (holdings: SignalSources["holdings"], count: number): Measured =>
  typeof holdings === "string" ? unknown(holdings) : held(holdings, holdings.largest(count), holdings.poolCoverage)

const creatorShare = ({ holdings, launch: { creator } }: SignalSources): Measured => {
  if (creator === null) {
    return unknown("not_captured")
  }
  return typeof holdings === "string"
    ? unknown(holdings)
    : held(holdings, holdings.amountOf(creator), COMPLETE, { addresses: [creator] })
}

/**
 * Wallets that bought in the slot of the first purchase, at the time of the creation. A single wallet is not a bundle.
 */
export const bundleOf = <Buyer extends Pick<FirstPurchase, "afterMs" | "slot">>(
  buyers: ReadonlyArray<Buyer>
): ReadonlyArray<Buyer> => {
  const [first] = buyers
  const together = first?.afterMs === 0 ? buyers.filter(({ slot }) => slot === first.slot) : []
  return together.length < 2 ? [] : together
}

const bundledBuyers = ({ holdings, launch: { buyers, coverage, creator, isCut } }: SignalSources): Measured => {
  if (buyers === null || typeof holdings === "string") {
    return unknown(buyers === null ? (coverage.reason ?? "not_captured") : (holdings as CoverageReason))
  }
  const bundle = bundleOf(buyers)
  const others = bundle.filter(({ wallet }) => wallet !== creator)
  const part = others.reduce((sum, { wallet }) => sum + holdings.amountOf(wallet), 0n)
  // When the list ends within this slot, more wallets may have bought in the slot.
  const isWhole = !(isCut && bundle.length === buyers.length)
  const measured = held(holdings, part, isWhole ? coverage : incomplete("limit_clipped"), {
    addresses: others.map(({ wallet }) => wallet),
    signatures: Array.from(new Set(others.map(({ signature }) => signature)))
  })
  return { ...measured, source: "launch-trades" }
}

const lpNotBurnt = ({ lp }: SignalSources): Measured => {
  if (typeof lp === "string") {
    return unknown(lp)
  }
  const { issued, lacking, life, mint, pool, slot, supply } = lp
  // The mint and the pool are read one after the other, so the supply may be larger than what was issued.
  const part = supply < issued ? supply : issued
  return {
    measure: percentOf(part, issued, life, lacking === null ? COMPLETE : incomplete(lacking)),
    source: "lp-mint",
    proof: { slot, part, total: issued, addresses: [pool, mint], signatures: [] }
  }
}

/** True when the percentage reaches the threshold, in exact arithmetic. */
const reaches = (proof: SignalProof, least: bigint): boolean =>
  proof.part !== null && proof.total !== null && 100n * proof.part >= least * proof.total

const signalOf = (code: SignalCode, { measure, proof, source }: Measured, nowMs: number): RiskSignal => {
  const { least, severity } = terms[code]
  const current = asOf(measure, nowMs)
  const isKnown = current.status === "known" && proof !== null
  return {
    code,
    state: !isKnown ? "unknown" : reaches(proof, least) ? "present" : "absent",
    severity,
    measure: current,
    thresholdPct: String(least),
    source,
    methodVersion: "public-signals-v1",
    proof
  }
}

/** Every signal as of `nowMs`, in the order of the answer. */
export const signalsOf = (sources: SignalSources, nowMs: number): ReadonlyArray<RiskSignal> => [
  signalOf("top10_concentration", concentration(sources.holdings, 10), nowMs),
  signalOf("top50_concentration", concentration(sources.holdings, 50), nowMs),
  signalOf("creator_share", creatorShare(sources), nowMs),
  signalOf("bundled_buyers", bundledBuyers(sources), nowMs),
  signalOf("lp_not_burnt", lpNotBurnt(sources), nowMs)
]
