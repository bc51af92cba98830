/** Differences between a service's figures and recomputed ones. */

/** A figure that differs. */
export interface Difference {
  readonly of: string
  readonly field: string
  readonly service: string | number | null
  readonly recomputed: string | number | null
}

/** A number with its status, as the service writes it. */
export interface WireScalar {
  readonly value: string | null
}

/** Figures are doubles of exact fractions: the last digits may differ by the order of a few divisions. */
const TOLERANCE = 1e-12
/** Percent points are differences of such doubles. */
export const PERCENT_TOLERANCE = 1e-9

/** True for two numbers that differ by rounding alone, or two unknown ones. */
export const isClose = (a: number | null, b: number | null, least = 0): boolean =>
  a === b ||
  (a !== null && b !== null && Math.abs(a - b) <= Math.max(least, TOLERANCE * Math.max(Math.abs(a), Math.abs(b))))

/** A number; null for null. */
export const numberOf = (text: string | null | undefined): number | null =>
  text === null || text === undefined ? null : Number(text)

/** A decimal text in units of so many digits; exact. */
export const unitsOf = (text: string | null, digits: number): bigint | null => {
  if (text === null) {
    return null
  }
  const [whole = "0", fraction = ""] = text.split(".")
  return BigInt(whole + fraction.slice(0, digits).padEnd(digits, "0"))
}

/** Collects differences, and counts what was compared. */
export const makeFindings = () => {
  const differences: Array<Difference> = []
  const compared = new Map<string, number>()
  const note = (kind: string, isEqual: boolean, found: () => Difference) => {
    compared.set(kind, (compared.get(kind) ?? 0) + 1)
    if (!isEqual) {
      differences.push(found())
    }
  }
  return {
    differences,
    compared,
    /** Compares two numbers up to rounding. */
    number: (kind: string, of: string, field: string, service: number | null, recomputed: number | null, least = 0) =>
      note(kind, isClose(service, recomputed, least), () => ({ of, field, service, recomputed })),
    /** Compares two exact values. */
    exact: (
      kind: string,
      of: string,
      field: string,
      service: bigint | string | null,
      recomputed: bigint | string | null
    ) =>
      note(kind, String(service) === String(recomputed), () => ({
        of,
        field,
        service: String(service),
        recomputed: String(recomputed)
      }))
  }
}

/** The collection that comparisons add to. */
export type Findings = ReturnType<typeof makeFindings>
