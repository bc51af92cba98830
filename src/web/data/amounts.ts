/** Amounts as people type them, made atomic without a float. */

const WELL_FORMED = /^(?<whole>\d*)(?:\.(?<fraction>\d*))?$/u

/** Atomic units of a typed amount, or what is wrong with it. */
export type TypedAmount =
  | { readonly units: bigint; readonly fault: null }
  | { readonly units: null; readonly fault: string }

const faulty = (fault: string): TypedAmount => ({ units: null, fault })

/**
 * Reads decimal text, spaces between digits allowed, as units of 10^-`decimals`. Exact: more digits after the point
 * than `decimals` are a fault.
 */
export const unitsOf = (text: string, decimals: number): TypedAmount => {
  const groups = WELL_FORMED.exec(text.replaceAll(/[\s_]/gu, ""))?.groups
  const { fraction = "", whole = "" } = groups ?? {}
  if (groups === undefined) {
    return faulty(text.includes(",") ? "Write decimals with a point, and thousands with spaces." : "Write a number.")
  }
  if (whole === "" && fraction === "") {
    return faulty("Write an amount.")
  }
  const digits = fraction.replace(/0+$/u, "")
  if (digits.length > decimals) {
    return faulty(`At most ${decimals} digits after the point.`)
  }
  return { units: BigInt(`${whole}${digits.padEnd(decimals, "0")}`), fault: null }
}
