import type { StoredBatch } from "../../../src/market/model/StoredBatch.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { MONDAY, trade } from "../tape/tape.ts"

/** A block of a second after `MONDAY`. Its trades are numbered in the given order. */
export const storedBlock = (
  second: number,
  trades: ReadonlyArray<Partial<TapeTrade>> = [],
  given: Partial<StoredBatch> = {}
): StoredBatch => {
  const [slot, timeMs] = [1000 + second, (MONDAY + second) * 1000]
  return {
    slot,
    timeMs,
    trades: trades.map((each, index) => trade({ slot, timeMs, index, ...each })),
    launches: [],
    afterGap: false,
    ...given
  }
}
