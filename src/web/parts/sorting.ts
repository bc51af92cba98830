/** Rows in the order of one of their figures. */
import { compareDecimals } from "./numbers.ts"

/** The column that a table is sorted by. */
export interface Sorting {
  readonly key: string
  readonly isDown: boolean
}

/** Rows by an exact decimal value, least first unless `isDown`. Unknown values come last in both directions. */
export const sortedBy = <Row>(
  rows: ReadonlyArray<Row>,
  valueOf: (row: Row) => string | null,
  isDown: boolean
): ReadonlyArray<Row> =>
  rows.toSorted((one, other) => {
    const [value, otherValue] = [valueOf(one), valueOf(other)]
    if (value === null || otherValue === null) {
      return Number(value === null) - Number(otherValue === null)
    }
    return compareDecimals(value, otherValue) * (isDown ? -1 : 1)
  })
