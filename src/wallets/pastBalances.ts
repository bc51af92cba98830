/** What a wallet held at a moment in the past, by its recorded trades and transfers. Pure. */
import { Schema } from "effect"
import type { PriceAt } from "../api/schemas/PriceAt.ts"
import type { Address, Mint } from "../domain/Address.ts"
import { fractionOf } from "../domain/rational.ts"
import { type CoverageReason, incomplete } from "../domain/Scalar.ts"
import { tenTo } from "../domain/decimal.ts"
import { isMoney } from "../domain/stables.ts"
import type { MissingBlocks } from "../market/model/Gaps.ts"
import type { TapeTrade } from "../market/model/TapeTrade.ts"
import { historyReason, isContiguous } from "./joinHistory.ts"
import { byChainOrder } from "./ledger.ts"
import type { Mark } from "./marks.ts"
import { type BalancesFound, byValue, marked } from "./walletBalances.ts"
import { sumOf, usdText } from "./pnl.ts"
import type { WalletHistory } from "./WalletIndex.ts"
import type { Holdings } from "./walletSummary.ts"

/** A moment in the past: the end of a slot, or the end of a Unix second. */
export interface PastMoment {
  readonly field: "at" | "atSlot"
  readonly value: number
}

/** The record of the wallet does not reach to the moment. `first` and `last` are its ends; null without a record. */
export class MomentNotRecorded extends Schema.TaggedError<MomentNotRecorded>()("MomentNotRecorded", {
  first: Schema.NullOr(Schema.Int),
  last: Schema.NullOr(Schema.Int)
}) {}

/** Which recorded change an amount is from: the last one up to the moment, or the first one after it. */
export type PastBasis = "last_change" | "next_change"

/** Units of one token at a moment; `units` is null when the record does not tell them. */
export interface PastUnit {
  readonly mint: Mint
  readonly decimals: number | null
  readonly units: { readonly amount: bigint; readonly basis: PastBasis } | null
}

/** The tokens of a wallet at a moment. */
export interface PastUnits {
  readonly moment: PastMoment
  /** The moment in Unix seconds; null for a slot whose time is not known. */
  readonly second: number | null
  readonly tokens: ReadonlyArray<PastUnit>
  readonly first: number
  readonly last: number
  readonly observedAtMs: number | null
  /** Why the record is not whole. It never is: it has no SOL and no dollars. */
  readonly reason: CoverageReason
}

/** What is read of the market. Infinite before the first block: `since` in seconds, `fromSlot`. */
export interface RecordEnds {
  readonly since: number
  readonly fromSlot: number
  /** The newest slot and second that are whole and can be found among the rows. */
  readonly toSlot: number
  readonly toSecond: number
  readonly gaps: ReadonlyArray<Pick<MissingBlocks, "fromSecond" | "fromSlot" | "toSecond" | "toSlot">>
}

interface Span {
  readonly from: number
  readonly to: number
}

const secondOf = ({ timeMs }: TapeTrade): number => Math.floor(timeMs / 1000)

/** The rows that nothing is missing between: without those of a history that ends before the observed rows begin. */
const rowsOf = ({ backfill, history }: Pick<Holdings, "backfill" | "history">): WalletHistory | null => {
  if (history === null || backfill === null || isContiguous(backfill, history)) {
    return history
  }
  const coveredFromMs = history.liveSinceMs ?? history.coveredFromMs
  return { ...history, coveredFromMs, trades: history.trades.filter(({ timeMs }) => timeMs >= coveredFromMs) }
}

/** The first slot or second that the rows reach back to. */
const firstOf = (history: WalletHistory | null, { field }: PastMoment, ends: RecordEnds): number => {
  if (field === "at") {
    return history === null ? ends.since : Math.ceil(history.coveredFromMs / 1000)
  }
  const oldest = (history?.trades ?? []).reduce((least, { slot }) => Math.min(least, slot), Infinity)
  return history?.truncated === true ? oldest : Math.min(oldest, ends.fromSlot)
}

/**
 * The units after or before all transactions of one slot; null when they are not known. Each transaction has to begin
 * with what the one before it left.
 */
const unitsAround = (rows: ReadonlyArray<TapeTrade>, side: "after" | "before"): bigint | null => {
  const spans = Array.from(
    Map.groupBy(rows, ({ signature }) => signature).values(),
    (own) => own.find(({ held }) => held !== undefined)?.held
  )
  const isLinked = spans.every((span, at) => {
    const previous = spans[at - 1]
    return span !== undefined && (at === 0 || span.before === previous?.after)
  })
  return isLinked ? ((side === "after" ? spans.at(-1)?.after : spans[0]?.before) ?? null) : null
}

/** The units of one mint at a moment, from its rows in the order of the chain. */
const unitsAt = (
  rows: ReadonlyArray<TapeTrade>,
  keyOf: (row: TapeTrade) => number,
  value: number,
  gaps: ReadonlyArray<Span>
): PastUnit["units"] => {
  const last = rows.findLast((row) => keyOf(row) <= value)
  const next = rows.find((row) => keyOf(row) > value)
  const isSeen = (from: number, to: number) => !gaps.some((gap) => gap.to >= from && gap.from <= to)
  const ofSlot = (found: TapeTrade) => rows.filter(({ slot }) => slot === found.slot)
  const after = last !== undefined && isSeen(keyOf(last), value) ? unitsAround(ofSlot(last), "after") : null
  const before = next !== undefined && isSeen(value, keyOf(next)) ? unitsAround(ofSlot(next), "before") : null
  if (after !== null) {
    // A change between the two was not recorded, before or after the moment.
    return before !== null && before !== after ? null : { amount: after, basis: "last_change" }
  }
  return before === null ? null : { amount: before, basis: "next_change" }
}

/** What the record tells of a wallet at a moment. */
export const unitsOfPast = (
  held: Pick<Holdings, "backfill" | "history">,
  moment: PastMoment,
  ends: RecordEnds
): PastUnits | MomentNotRecorded => {
  const history = rowsOf(held)
  const isSlot = moment.field === "atSlot"
  const [first, last] = [firstOf(history, moment, ends), isSlot ? ends.toSlot : ends.toSecond]
  if (!Number.isFinite(first) || last < first) {
    return new MomentNotRecorded({ first: null, last: null })
  }
  if (moment.value < first || moment.value > last) {
    return new MomentNotRecorded({ first, last })
  }
  const rows = (history?.trades ?? []).filter(({ mint }) => !isMoney(mint)).toSorted(byChainOrder)
  const keyOf = isSlot ? ({ slot }: TapeTrade) => slot : secondOf
  const gaps = ends.gaps.map((gap) =>
    isSlot ? { from: gap.fromSlot, to: gap.toSlot } : { from: gap.fromSecond, to: gap.toSecond }
  )
  const ofSlot = isSlot ? rows.find(({ slot }) => slot === moment.value) : undefined
  return {
    moment,
    second: isSlot ? (ofSlot === undefined ? null : secondOf(ofSlot)) : moment.value,
    tokens: Array.from(
      Map.groupBy(rows, ({ mint }) => mint),
      ([mint, own]) => ({
        mint,
        decimals: own.findLast(({ decimals }) => decimals !== null)?.decimals ?? null,
        units: unitsAt(own, keyOf, moment.value, gaps)
      })
    ),
    first,
    last,
    observedAtMs: history?.coveredUntilMs ?? null,
    reason: history === null ? "not_captured" : (historyReason(held.backfill, held.history) ?? "not_captured")
  }
}

/** The most tokens that are valued at a moment in the past. */
export const MOST_PRICED = 100

/** The tokens that are valued. */
export const pricedMints = ({ tokens }: PastUnits): ReadonlyArray<Mint> =>
  tokens.flatMap(({ mint, units }) => (units === null || units.amount === 0n ? [] : [mint])).slice(0, MOST_PRICED)

/** A price that is known, as a mark; null otherwise. */
const markOf = (price: PriceAt | undefined, decimals: number | null): Mark | null =>
  price?.priceUsd.status !== "known" || price.priceUsd.value === null || decimals === null
    ? null
    : {
        price: unitPriceOf(price.priceUsd.value, decimals),
        method: "last_trade",
        atMs: price.barMs
      }

const unitPriceOf = (text: string, decimals: number): Mark["price"] => {
  const { denominator, numerator } = fractionOf(text)
  return { numerator: numerator * 1_000_000n, denominator: denominator * tenTo(decimals) }
}

/** The balances of a wallet in the past, with the `limit` most valuable tokens. SOL and dollars are not recorded. */
export const pastBalancesOf = (
  wallet: Address,
  past: PastUnits,
  prices: ReadonlyMap<Mint, PriceAt>,
  limit: number
): BalancesFound => {
  const unknown = past.tokens.flatMap(({ mint, units }) => (units === null ? [mint] : [])).toSorted()
  const tokens = past.tokens
    .flatMap(({ decimals, mint, units }) => {
      if (units === null || units.amount === 0n) {
        return []
      }
      const { body, nanos } = marked(units.amount, markOf(prices.get(mint), decimals), decimals)
      return [{ mint, nanos, row: { mint, decimals, ...units, isDollar: false, ...body } }]
    })
    .toSorted(byValue)
  const unvalued = tokens.filter(({ nanos }) => nanos === null).length
  return {
    data: {
      wallet,
      sol: null,
      solReason: "not_captured",
      tokens: tokens.slice(0, limit).map(({ row }) => row),
      truncated: tokens.length > limit,
      unknown: unknown.slice(0, limit),
      sums: {
        tokens: tokens.length,
        unknown: unknown.length,
        unvalued: unvalued + unknown.length + 1,
        solUsd: null,
        dollarsUsd: null,
        valueUsd: null,
        knownValueUsd: usdText(sumOf(tokens.flatMap(({ nanos }) => (nanos === null ? [] : [nanos]))) ?? 0n)
      }
    },
    slot: past.moment.field === "atSlot" ? past.moment.value : null,
    slots: null,
    past: {
      atSlot: past.moment.field === "atSlot" ? past.moment.value : null,
      at: past.second,
      first: past.first,
      last: past.last
    },
    observedAtMs: past.observedAtMs,
    status: past.tokens.length === 0 ? "unavailable" : "partial",
    coverage: incomplete(unknown.length > 0 ? "source_gap" : past.reason)
  }
}
