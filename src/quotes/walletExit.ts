/** Builds the exit report of a wallet: one ladder per open position. Pure. */
import { numberText, shareOf, uiNumber } from "../domain/decimal.ts"
import type { Mint } from "../domain/Address.ts"
import type { ExitCheck, Position } from "../api/schemas/ExitCheck.ts"
import type {
  WalletExitCounts,
  WalletExitPosition,
  WalletExitState,
  WalletExitTotal,
  WithinImpact
} from "../api/schemas/WalletExit.ts"
import type { WalletPosition } from "../api/schemas/WalletPositions.ts"
import { largestWithin } from "./exitCheck.ts"

/** What the caller asked for. It applies to every position. */
export interface WalletExitTerms {
  readonly quoteMint: Mint
  readonly quoteDecimals: number | null
  readonly slippageBps: number
  readonly ladder: ReadonlyArray<number>
  readonly maxImpactPct: number
  /** How many positions the report shows. */
  readonly limit: number
}

export interface PlannedExit {
  readonly held: WalletPosition
  /** Null when there is nothing to price. `state` then says why. */
  readonly position: Position | null
  readonly state: WalletExitState
}

/** How pricing a position's ladder went. */
export interface ExitOutcome {
  readonly state: WalletExitState
  readonly exit: ExitCheck | null
  readonly detail: string | null
  readonly retryInMs: number | null
}

const details: Partial<Record<WalletExitState, string>> = {
  unknown_balance: "The balance of the wallet is not known.",
  quote_mint: "The position is held in the mint of the proceeds.",
  too_small: "No share of the ladder comes to one atomic unit."
}

// Only sorts the list. No amount is computed from it.
const valueOf = ({ valueUsd }: WalletPosition): number => (valueUsd === null ? -1 : Number(valueUsd))

/** Sorts open positions: known balances first, then larger value, later last trade, mint. */
const inOrder = (positions: ReadonlyArray<WalletPosition>): ReadonlyArray<WalletPosition> =>
  positions
    .filter(({ open }) => open)
    .toSorted(
      (a, b) =>
        Number(b.holding !== null) - Number(a.holding !== null) ||
        valueOf(b) - valueOf(a) ||
        (b.lastAtMs ?? 0) - (a.lastAtMs ?? 0) ||
        (a.mint < b.mint ? -1 : 1)
    )

const planOf = (held: WalletPosition, terms: WalletExitTerms): PlannedExit => {
  const { decimals, holding: amount, mint } = held
  const { ladder, quoteDecimals, quoteMint, slippageBps } = terms
  if (amount === null) {
    return { held, position: null, state: "unknown_balance" }
  }
  if (mint === quoteMint) {
    return { held, position: null, state: "quote_mint" }
  }
  const rungs = ladder
    .map((fraction) => ({ fraction, amount: shareOf(amount, numberText(fraction) ?? "") ?? 0n }))
    .filter((rung) => rung.amount > 0n)
  return rungs.length === 0
    ? { held, position: null, state: "too_small" }
    : {
        held,
        position: { mint, quoteMint, amount, decimals, quoteDecimals, slippageBps, ladder: rungs },
        state: "not_reached"
      }
}

/** Plans the first open positions, and says how many there are. Rungs that come to zero units are left out. */
export const plannedExits = (
  positions: ReadonlyArray<WalletPosition>,
  terms: WalletExitTerms
): { readonly planned: ReadonlyArray<PlannedExit>; readonly open: number } => {
  const open = inOrder(positions)
  return { planned: open.slice(0, terms.limit).map((held) => planOf(held, terms)), open: open.length }
}

export const rungsIn = (positions: ReadonlyArray<Pick<PlannedExit, "position">>): number =>
  positions.reduce((sum, { position }) => sum + (position?.ladder.length ?? 0), 0)

const withinOf = (exit: ExitCheck, maxImpactPct: number): WithinImpact | null => {
  const rung = largestWithin(exit.rungs, maxImpactPct)
  return rung === null || rung.outAmount === null
    ? null
    : { fraction: rung.fraction, amount: rung.amount, outAmount: rung.outAmount, outUiAmount: rung.outUiAmount }
}

/** One position of the report. Without an outcome it keeps the state from the plan. */
export const walletExitPosition = (
  { held, state }: PlannedExit,
  outcome: ExitOutcome | null,
  maxImpactPct: number
): WalletExitPosition => {
  const exit = outcome?.exit ?? null
  return {
    mint: held.mint,
    state: outcome?.state ?? state,
    detail: outcome === null ? (details[state] ?? null) : outcome.detail,
    retryInMs: outcome?.retryInMs ?? null,
    amount: held.holding,
    decimals: exit?.decimals ?? held.decimals,
    valueUsd: held.valueUsd,
    within: exit === null ? null : withinOf(exit, maxImpactPct),
    exit
  }
}

/** Counts open positions by state. The other counts add up to `open`. */
export const countsOf = (positions: ReadonlyArray<WalletExitPosition>, open: number): WalletExitCounts => {
  const of = (wanted: WalletExitState) => positions.filter(({ state }) => state === wanted).length
  return {
    open,
    checked: of("checked"),
    unknownBalance: of("unknown_balance"),
    quoteMint: of("quote_mint"),
    tooSmall: of("too_small"),
    loading: of("loading"),
    deferred: of("deferred"),
    notSearched: of("not_searched"),
    notSupported: of("not_supported"),
    notReached: of("not_reached"),
    leftOut: open - positions.length
  }
}

/**
 * What a position brings within the impact. Zero when nothing buys any share of it; null when that was not measured.
 */
const proceedsWithin = ({ exit, within }: WalletExitPosition): bigint | null => {
  if (within !== null) {
    return within.outAmount
  }
  return exit !== null && exit.rungs.every(({ error }) => error === "no_route") ? 0n : null
}

const sumOf = (amounts: ReadonlyArray<bigint>): bigint | null =>
  amounts.length === 0 ? null : amounts.reduce((sum, amount) => sum + amount, 0n)

const uiOf = (amount: bigint | null, decimals: number | null): number | null =>
  amount === null || decimals === null ? null : uiNumber(amount, decimals)

/** Sums up the positions of the report. `isKnown` is true when the wallet's positions could be read. */
export const totalOf = (
  positions: ReadonlyArray<WalletExitPosition>,
  { maxImpactPct, quoteDecimals }: WalletExitTerms,
  { isKnown, open }: { readonly open: number; readonly isKnown: boolean }
): WalletExitTotal => {
  const within = positions.map(proceedsWithin).filter((amount) => amount !== null)
  const whole = positions.flatMap(({ exit }) => exit?.summary.fullExitOutAmount ?? [])
  const outAmount = sumOf(within)
  const fullExitOutAmount = sumOf(whole)
  return {
    maxImpactPct,
    outAmount,
    outUiAmount: uiOf(outAmount, quoteDecimals),
    measured: within.length,
    complete: isKnown && within.length === open,
    fullExitOutAmount,
    fullExitOutUiAmount: uiOf(fullExitOutAmount, quoteDecimals),
    fullExits: whole.length
  }
}
