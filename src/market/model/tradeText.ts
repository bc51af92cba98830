/** Trades with text in place of amounts, as JSON carries them. */
import type { TapeTrade } from "./TapeTrade.ts"

/** The type with text in place of amounts. */
export type Text<A> = A extends bigint
  ? string
  : A extends string
    ? A
    : A extends object
      ? { readonly [K in keyof A]: Text<A[K]> }
      : A

/** JSON text of a value, with text in place of amounts. */
export const amountsAsText = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) => (typeof part === "bigint" ? `${part}` : part))

const amountOf = (text: string | null): bigint | null => (text === null ? null : BigInt(text))

/** The trade of its text. */
export const tradeOfText = (row: Text<TapeTrade>): TapeTrade => {
  const { feeLamports, feeUsdNanos, held, otherToken, priorityLamports, tipLamports, ...rest } = row
  return {
    ...rest,
    amount: BigInt(row.amount),
    lamports: amountOf(row.lamports),
    solUsdNanos: amountOf(row.solUsdNanos),
    volumeUsdNanos: amountOf(row.volumeUsdNanos),
    // Fields that were left out stay left out.
    ...(otherToken !== undefined && { otherToken: { ...otherToken, amount: BigInt(otherToken.amount) } }),
    ...(feeUsdNanos !== undefined && { feeUsdNanos: amountOf(feeUsdNanos) }),
    ...(feeLamports !== undefined && { feeLamports: BigInt(feeLamports) }),
    ...(priorityLamports !== undefined && { priorityLamports: BigInt(priorityLamports) }),
    ...(tipLamports !== undefined && { tipLamports: BigInt(tipLamports) }),
    ...(held !== undefined && { held: { before: BigInt(held.before), after: BigInt(held.after) } })
  }
}
