/** Our figures in the forms that other services use: JSON numbers, and seconds or ISO text for times. */
import { uiNumber } from "../../domain/decimal.ts"
import type { Scalar } from "../../domain/Scalar.ts"

/** A number of the contract with how well it is known. */
export type Figure = Pick<typeof Scalar.Encoded, "status" | "value">

/**
 * A figure as exact decimal text; null when it is unknown or stale, because the other services have no field that would
 * say how old it is. A partial sum is given: it is what was observed.
 */
export const decimalOf = ({ status, value }: Figure): string | null => (status === "stale" ? null : value)

/** The same as the nearest JSON number. */
export const numberOf = (figure: Figure): number | null => {
  const value = decimalOf(figure)
  return value === null ? null : Number(value)
}

/** Atomic units as whole tokens, the nearest JSON number; null without amount or decimals. */
export const tokensOf = (amount: string | null, decimals: number | null): number | null =>
  amount === null || decimals === null ? null : uiNumber(BigInt(amount), decimals)

/** A time in ISO form; null when it is unknown. */
export const isoOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

/** Leaves fields out whose value is unknown. */
export const withoutUnknown = <A extends object>(fields: A): Partial<A> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)) as Partial<A>
