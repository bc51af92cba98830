/** What a wallet holds by its accounts on the chain, valued at the marks. Pure. */
import type { PastMeta, WalletBalances } from "../api/schemas/WalletBalances.ts"
import { type Address, type Mint, SOL } from "../domain/Address.ts"
import { COMPLETE, type Coverage, incomplete, type Status } from "../domain/Scalar.ts"
import { DOLLAR_DECIMALS, isDollar } from "../domain/stables.ts"
import type { Mark } from "./marks.ts"
import { sumOf, usdText, usdTextOrNull, valueOf } from "./pnl.ts"
import { markText } from "./walletPositions.ts"

/** The accounts of a wallet as the node gave them. The reads may be of different slots. */
export interface HeldUnits {
  readonly lamports: bigint
  /** Units by mint over all token accounts. */
  readonly units: ReadonlyMap<Mint, bigint>
  readonly slots: BalanceSlots
  readonly atMs: number
}

/** The slots of the reads: of SOL, and of the accounts of both token programs. */
export interface BalanceSlots {
  readonly sol: number
  readonly splToken: number
  readonly token2022: number
}

/** Balances, and how well their values are known. The balances themselves are whole. */
export interface BalancesFound {
  readonly data: WalletBalances
  /** The lowest of the slots; the slot that was asked for, or null, in the past. */
  readonly slot: number | null
  /** Null in the past. */
  readonly slots: BalanceSlots | null
  readonly past: typeof PastMeta.Type | null
  readonly observedAtMs: number | null
  readonly status: Status
  readonly coverage: Coverage
}

/** Looks up what values a mint. */
export interface BalanceMarks {
  readonly markOf: (mint: Mint) => Mark | null
  readonly decimalsOf: (mint: Mint) => number | null
}

/** The most tokens that are valued, dollars first. The others have no known value. */
export const MOST_MARKED = 1000

const SOL_DECIMALS = 9

/** Units at a mark: their value, and the fields of the answer. */
export const marked = (units: bigint, mark: Mark | null, decimals: number | null) => {
  const nanos = valueOf(units, mark?.price ?? null)
  const body = {
    markUsd: markText(mark?.price ?? null, decimals),
    markMethod: mark?.method ?? null,
    markAtMs: mark?.atMs ?? null,
    valueUsd: usdTextOrNull(nanos)
  }
  return { nanos, body }
}

/** Greater values first, unknown ones last, equal ones by mint. */
export const byValue = (
  a: { readonly mint: Mint; readonly nanos: bigint | null },
  b: { readonly mint: Mint; readonly nanos: bigint | null }
): number => {
  const [x, y] = [a.nanos ?? -1n, b.nanos ?? -1n]
  return x === y ? (a.mint < b.mint ? -1 : 1) : x > y ? -1 : 1
}

/** The balances of a wallet, with the `limit` most valuable tokens. */
export const balancesOf = (
  wallet: Address,
  { atMs, lamports, slots, units }: HeldUnits,
  { decimalsOf, markOf }: BalanceMarks,
  limit: number
): BalancesFound => {
  const wrappedLamports = units.get(SOL) ?? 0n
  const sol = marked(lamports + wrappedLamports, markOf(SOL), SOL_DECIMALS)
  const held = Array.from(units)
    .filter(([mint, amount]) => mint !== SOL && amount > 0n)
    .toSorted(([a], [b]) => Number(isDollar(b)) - Number(isDollar(a)))
  const tokens = held
    .map(([mint, amount], place) => {
      // A dollar is what others are paid in. It may never have been traded itself.
      const decimals = isDollar(mint) ? DOLLAR_DECIMALS : decimalsOf(mint)
      const { body, nanos } = marked(amount, place < MOST_MARKED ? markOf(mint) : null, decimals)
      return {
        mint,
        nanos,
        row: { mint, decimals, amount, basis: "accounts" as const, isDollar: isDollar(mint), ...body }
      }
    })
    .toSorted(byValue)
  const all = [sol.nanos, ...tokens.map(({ nanos }) => nanos)]
  const unvalued = all.filter((nanos) => nanos === null).length
  return {
    data: {
      wallet,
      sol: { lamports, wrappedLamports, ...sol.body },
      solReason: null,
      tokens: tokens.slice(0, limit).map(({ row }) => row),
      truncated: tokens.length > limit,
      unknown: [],
      sums: {
        tokens: tokens.length,
        unknown: 0,
        unvalued,
        solUsd: usdTextOrNull(sol.nanos),
        dollarsUsd: usdTextOrNull(sumOf(tokens.flatMap(({ nanos, row }) => (row.isDollar ? [nanos] : [])))),
        valueUsd: usdTextOrNull(sumOf(all)),
        knownValueUsd: usdText(all.reduce<bigint>((sum, nanos) => sum + (nanos ?? 0n), 0n))
      }
    },
    slot: Math.min(slots.sol, slots.splToken, slots.token2022),
    slots,
    past: null,
    observedAtMs: atMs,
    status: unvalued > 0 ? "partial" : "known",
    coverage: unvalued === 0 ? COMPLETE : incomplete(held.length > MOST_MARKED ? "limit_clipped" : "mark_unknown")
  }
}
