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

/** The amount of its text. */
export const amountOfText = (text: string | null): bigint | null => (text === null ? null : BigInt(text))

/** Reads a trade with text in place of amounts. */
export const tradeOfText = (row: Text<TapeTrade>): TapeTrade => {
  const { feeLamports, feeUsdNanos, held, otherToken, priorityLamports, tipLamports, ...rest } = row
  return {
    ...rest,
    amount: BigInt(row.amount),
    lamports: amountOfText(row.lamports),
    solUsdNanos: amountOfText(row.solUsdNanos),
    volumeUsdNanos: amountOfText(row.volumeUsdNanos),
    // Fields that were left out stay left out.
    ...(otherToken !== undefined && { otherToken: { ...otherToken, amount: BigInt(otherToken.amount) } }),
    ...(feeUsdNanos !== undefined && { feeUsdNanos: amountOfText(feeUsdNanos) }),
    ...(feeLamports !== undefined && { feeLamports: BigInt(feeLamports) }),
    ...(priorityLamports !== undefined && { priorityLamports: BigInt(priorityLamports) }),
    ...(tipLamports !== undefined && { tipLamports: BigInt(tipLamports) }),
    ...(held !== undefined && { held: { before: BigInt(held.before), after: BigInt(held.after) } })
  }
}
