/** The layout of a token's record. */
import type { Records } from "../columnar/Records.ts"
import { QUEUE } from "./Buckets.ts"
import { PRESENCE } from "./Presence.ts"
import { LEFT_CELLS, START_KEY, START_PRICE, SUM } from "./tokenBuckets.ts"
import { WINDOWS } from "../model/windows.ts"

/**
 * The cells that every trade touches come first, eight to a cache line: the sum of everything seen, and the last price.
 */
export const SEEN = 0
export const LAST_PRICE = SUM
export const LAST_KEY = 6
export const LAST_SECOND = 7
/** The second at which the next bucket leaves a window. */
export const DUE = 8
export const FIRST_SECOND = 9
/** The links of the idle list, and the distinct traders of each window. */
export const IDLE = 10
export const TRADERS = 12
/** The queues of buckets, one per window, and the presence. Both are words, two to a cell. */
export const QUEUES = TRADERS + WINDOWS
export const PRESENT = QUEUES + (WINDOWS * QUEUE) / 2
/** What has left each window. */
export const LEFT = PRESENT + PRESENCE / 2
/** The first known price, and its order key. */
export const FIRST_PRICE = LEFT + WINDOWS * LEFT_CELLS
export const FIRST_KEY = FIRST_PRICE + 1
export const CELLS = FIRST_KEY + 1

/** Makes a record the record of a token without trades that was first seen in a second. */
export const beginCells = (records: Records, id: number, second: number): void => {
  records.clear(id)
  const cells = records.page(id)
  const at = records.at(id)
  cells[at + LAST_PRICE] = Number.NaN
  cells[at + LAST_KEY] = -1
  cells[at + FIRST_PRICE] = Number.NaN
  cells[at + FIRST_KEY] = Number.POSITIVE_INFINITY
  cells[at + DUE] = Number.POSITIVE_INFINITY
  cells[at + FIRST_SECOND] = second
  cells[at + LAST_SECOND] = second
  for (let window = 0; window < WINDOWS; window++) {
    cells[at + LEFT + window * LEFT_CELLS + START_PRICE] = Number.NaN
    cells[at + LEFT + window * LEFT_CELLS + START_KEY] = -1
  }
}
